#include "src/ingest/nsys/span.h"

#include <fmt/format.h>

namespace layerscope::ingest::nsys {
namespace {

using trace::LedgerCode;

bool TakeStart(const Row& row, int64_t start_ns, Batch& batch) {
  if (row.bad()) {
    row.AddTo(batch.ledger);
    return false;
  }
  if (trace::IsTimeInRange(start_ns)) return true;
  batch.ledger.AddSample(LedgerCode::time_out_of_range, -1, fmt::format("start {}", start_ns));
  return false;
}

}  // namespace

bool TakeSpan(const Row& row, int64_t start_ns, int64_t end_ns, Batch& batch, Span& span) {
  if (!TakeStart(row, start_ns, batch)) return false;
  int64_t dur_ns = 0;
  if (__builtin_sub_overflow(end_ns, start_ns, &dur_ns) || !trace::IsDurationInRange(dur_ns)) {
    batch.ledger.AddSample(LedgerCode::time_out_of_range, -1,
                           fmt::format("start {} end {}", start_ns, end_ns));
    return false;
  }
  span = {start_ns, dur_ns};
  if (span.dur_ns < 0) batch.ledger.Add(LedgerCode::negative_dur);
  batch.bounds.AddSpan(span.start_ns, span.dur_ns);
  return true;
}

bool TakeOpenSpan(const Row& row, int64_t start_ns, Batch& batch, Span& span) {
  if (!TakeStart(row, start_ns, batch)) return false;
  span = {start_ns, NvtxRows::kOpenNs};
  batch.ledger.Add(LedgerCode::open_range);
  batch.bounds.AddSpan(start_ns, 0);
  return true;
}

}  // namespace layerscope::ingest::nsys

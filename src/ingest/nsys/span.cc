#include "src/ingest/nsys/span.h"

#include <fmt/format.h>

namespace layerscope::ingest::nsys {
namespace {

using trace::LedgerCode;

constexpr int64_t kMaxDurationNs = int64_t{24} * 3600 * 1'000'000'000;
/// A time and a duration in range never overflow together.
constexpr int64_t kMaxTimeNs = (int64_t{1} << 62) - kMaxDurationNs;

bool InRange(int64_t ns, int64_t limit_ns) {
  return ns >= -limit_ns && ns <= limit_ns;
}

bool TakeStart(const Row& row, int64_t start_ns, Batch& batch) {
  if (row.bad()) {
    row.AddTo(batch.ledger);
    return false;
  }
  if (InRange(start_ns, kMaxTimeNs)) return true;
  batch.ledger.AddSample(LedgerCode::time_out_of_range, -1, fmt::format("start {}", start_ns));
  return false;
}

}  // namespace

bool TakeSpan(const Row& row, int64_t start_ns, int64_t end_ns, Batch& batch, Span& span) {
  if (!TakeStart(row, start_ns, batch)) return false;
  if (!InRange(end_ns, kMaxTimeNs + kMaxDurationNs) ||
      !InRange(end_ns - start_ns, kMaxDurationNs)) {
    batch.ledger.AddSample(LedgerCode::time_out_of_range, -1,
                           fmt::format("start {} end {}", start_ns, end_ns));
    return false;
  }
  span = {start_ns, end_ns - start_ns};
  if (span.dur_ns < 0) batch.ledger.Add(LedgerCode::negative_dur);
  batch.SetBounds(span.start_ns, span.dur_ns);
  return true;
}

bool TakeOpenSpan(const Row& row, int64_t start_ns, Batch& batch, Span& span) {
  if (!TakeStart(row, start_ns, batch)) return false;
  span = {start_ns, NvtxRows::kOpenNs};
  batch.ledger.Add(LedgerCode::open_range);
  batch.SetBounds(start_ns, 0);
  return true;
}

}  // namespace layerscope::ingest::nsys

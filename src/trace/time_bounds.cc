#include "src/trace/time_bounds.h"

#include <algorithm>

namespace layerscope::trace {
namespace {

/// A time of 0 this far before all others is none.
constexpr int64_t kFarFromZeroNs = int64_t{3600} * 1'000'000'000;

}  // namespace

void TimeBounds::AddStart(int64_t start_ns) {
  if (start_ns == 0) {
    ++n_start_zero;
  } else {
    min_start_ns = std::min(min_start_ns, start_ns);
  }
}

void TimeBounds::AddSpan(int64_t start_ns, int64_t dur_ns) {
  AddStart(start_ns);
  max_end_ns = std::max(max_end_ns, start_ns + std::max<int64_t>(dur_ns, 0));
}

void TimeBounds::Merge(const TimeBounds& other) {
  min_start_ns = std::min(min_start_ns, other.min_start_ns);
  n_start_zero += other.n_start_zero;
  max_end_ns = std::max(max_end_ns, other.max_end_ns);
}

void SetZero(const TimeBounds& bounds, Trace& trace) {
  const bool has_others = bounds.min_start_ns != std::numeric_limits<int64_t>::max();
  const bool zero_is_real =
      bounds.n_start_zero > 0 && (!has_others || bounds.min_start_ns <= kFarFromZeroNs);
  if (bounds.n_start_zero > 0 && !zero_is_real) {
    trace.ledger.Add(LedgerCode::ts_zero, bounds.n_start_zero);
  }
  int64_t zero_ns = has_others ? bounds.min_start_ns : 0;
  if (zero_is_real) zero_ns = std::min<int64_t>(zero_ns, 0);
  const bool has_spans = bounds.max_end_ns != std::numeric_limits<int64_t>::min();
  trace.zero_ns = 0;
  trace.end_ns = has_spans ? bounds.max_end_ns : zero_ns;
  trace.Rebase(zero_ns);
}

}  // namespace layerscope::trace

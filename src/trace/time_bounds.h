#pragma once

#include <cstdint>
#include <limits>

#include "src/trace/trace.h"

namespace layerscope::trace {

/// What times a reader keeps, and where the zero of a trace lies (DESIGN.md section 7).

inline constexpr int64_t kMaxDurationNs = int64_t{24} * 3600 * 1'000'000'000;
/// A day below 2^62: the end of a row (at most a day later) and the distance between any two times
/// fit into 64 bits.
inline constexpr int64_t kMaxTimeNs = (int64_t{1} << 62) - kMaxDurationNs;

inline bool IsTimeInRange(int64_t ns) {
  return ns >= -kMaxTimeNs && ns <= kMaxTimeNs;
}
inline bool IsDurationInRange(int64_t ns) {
  return ns >= -kMaxDurationNs && ns <= kMaxDurationNs;
}

/// Of rows with times in range: where they begin and end.
struct TimeBounds {
  int64_t min_start_ns = std::numeric_limits<int64_t>::max();  ///< of those that are not 0
  int64_t n_start_zero = 0;
  int64_t max_end_ns = std::numeric_limits<int64_t>::min();

  /// An event without a length of its own: it has no end.
  void AddStart(int64_t start_ns);
  void AddSpan(int64_t start_ns, int64_t dur_ns);
  void Merge(const TimeBounds& other);
};

/// Makes the times of `trace`, which are relative to 0, relative to the smallest start. Starts of 0
/// are left out, and said so in the ledger, only when the next is more than an hour later.
void SetZero(const TimeBounds& bounds, Trace& trace);

}  // namespace layerscope::trace

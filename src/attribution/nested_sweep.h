#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "src/attribution/lane_order.h"

namespace layerscope::attribution {

inline constexpr uint32_t kNoRow = std::numeric_limits<uint32_t>::max();

/// Walks the intervals of one lane in time. `rows` is in nesting order (LaneOrder).
///   on_open(row, parent)         for every row: the innermost row before it that contains its
///   start,
///                                or kNoRow. Parents come before their children.
///   on_interval(row, from, to)   for every maximal interval in which a row is innermost, in time
///                                order; from < to.
/// Innermost = latest start, then smallest end, then last in file; an interval without length
/// contains nothing and cuts nothing. Intervals may cross: the later started one covers the other.
/// Iterative and linear; `stack` is scratch that callers may reuse.
template <typename OnOpen, typename OnInterval>
void SweepNested(std::span<const uint32_t> rows, const Intervals& intervals,
                 std::vector<uint32_t>& stack, const OnOpen& on_open,
                 const OnInterval& on_interval) {
  stack.clear();
  int64_t now = std::numeric_limits<int64_t>::min();
  // Closes what ends at or before `until`. What ended while it was covered leaves no interval.
  const auto close = [&](int64_t until) {
    while (!stack.empty()) {
      const int64_t end = intervals.End(stack.back());
      if (end > until) return;
      if (end > now) {
        on_interval(stack.back(), now, end);
        now = end;
      }
      stack.pop_back();
    }
  };
  for (const uint32_t row : rows) {
    const int64_t start = intervals.Start(row);
    close(start);
    on_open(row, stack.empty() ? kNoRow : stack.back());
    if (intervals.End(row) <= start) continue;
    if (!stack.empty() && start > now) on_interval(stack.back(), now, start);
    now = start;
    stack.push_back(row);
  }
  close(std::numeric_limits<int64_t>::max());
}

}  // namespace layerscope::attribution

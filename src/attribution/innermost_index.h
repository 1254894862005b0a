#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/attribution/lane_order.h"
#include "src/attribution/nested_sweep.h"

namespace layerscope::attribution {

/// Answers "which row is innermost on this lane at time t" (x contains t when start <= t < end).
/// The lanes are flattened to the intervals in which one row is innermost: at most two a row, 12
/// bytes each. Questions in about rising time cost a step or two each, others a binary search.
class InnermostIndex {
 public:
  InnermostIndex() = default;
  InnermostIndex(const LaneOrder& order, const Intervals& intervals)
      : InnermostIndex(order, intervals, [](uint32_t, uint32_t) {}) {}
  /// `on_open(row, parent)` as in SweepNested, lane after lane.
  template <typename OnOpen>
  InnermostIndex(const LaneOrder& order, const Intervals& intervals, const OnOpen& on_open) {
    std::vector<uint32_t> stack;
    for (size_t lane = 0; lane < order.n_lanes(); ++lane) {
      SweepNested(order.rows(lane), intervals, stack, on_open,
                  [this](uint32_t row, int64_t from, int64_t to) { Append(row, from, to); });
      EndLane();
    }
  }

  /// The row, or kNoRow. Remembers where it looked, so it is not const.
  uint32_t Find(size_t lane, int64_t t_ns);

 private:
  void Append(uint32_t row, int64_t from_ns, int64_t to_ns);
  void EndLane();

  std::vector<size_t> begin_{0};  // by lane, and one past the last
  std::vector<size_t> hint_;      // by lane: where the last question was answered
  std::vector<int64_t> from_ns_;
  std::vector<uint32_t> row_;  // innermost from here to the next entry; kNoRow = a gap
  int64_t covered_to_ns_ = 0;  // while building: end of the last interval of this lane
};

}  // namespace layerscope::attribution

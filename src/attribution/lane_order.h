#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/base/check.h"

namespace layerscope::attribution {

/// Start and length of the rows of one table, in nanoseconds; not owned.
struct Intervals {
  std::span<const int64_t> start_ns;
  std::span<const int64_t> dur_ns;

  int64_t Start(uint32_t row) const { return start_ns[row]; }
  /// Clamped: hostile times near the ends of int64 must not overflow.
  int64_t End(uint32_t row) const;
  size_t size() const { return start_ns.size(); }
};

/// The rows of a table grouped by lane (a thread or a process) and, inside a lane, in nesting
/// order: start, then the longest first, then file order. So an enclosing interval stands before
/// what it encloses and the innermost of equals is the last. Linear when a lane is sorted already,
/// as most are; 4 bytes a row.
class LaneOrder {
 public:
  template <typename LaneId>
  static LaneOrder Build(std::span<const LaneId> lane_of_row, size_t n_lanes,
                         const Intervals& intervals) {
    LaneOrder order;
    order.begin_.assign(n_lanes + 1, 0);
    for (const LaneId lane : lane_of_row) {
      LS_CHECK(lane.index() < n_lanes, "a row without a lane");
      ++order.begin_[lane.index() + 1];
    }
    for (size_t i = 1; i <= n_lanes; ++i) order.begin_[i] += order.begin_[i - 1];
    order.rows_.resize(lane_of_row.size());
    std::vector<uint32_t> next(order.begin_.begin(), order.begin_.end() - 1);
    for (size_t row = 0; row < lane_of_row.size(); ++row) {
      order.rows_[next[lane_of_row[row].index()]++] = static_cast<uint32_t>(row);
    }
    order.SortLanes(intervals);
    return order;
  }

  size_t n_lanes() const { return begin_.size() - 1; }
  std::span<const uint32_t> rows(size_t lane) const {
    return std::span(rows_).subspan(begin_[lane], begin_[lane + 1] - begin_[lane]);
  }

 private:
  void SortLanes(const Intervals& intervals);

  std::vector<uint32_t> begin_{0};  // by lane, and one past the last
  std::vector<uint32_t> rows_;
};

}  // namespace layerscope::attribution

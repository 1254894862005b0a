#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace layerscope::analysis {

/// The union of intervals that come in any order, as disjoint intervals by time: what is covered
/// and what is not. Intervals of zero or negative length cover nothing.
class MergedIntervals {
 public:
  void Add(int64_t start_ns, int64_t end_ns) {
    if (start_ns < end_ns) parts_.push_back({start_ns, end_ns});
  }

  /// Call it once, after the last Add and before the first question.
  void Freeze() {
    std::sort(parts_.begin(), parts_.end());
    size_t n = 0;
    for (const auto& [start_ns, end_ns] : parts_) {
      if (n > 0 && start_ns <= parts_[n - 1].second) {
        parts_[n - 1].second = std::max(parts_[n - 1].second, end_ns);
      } else {
        parts_[n++] = {start_ns, end_ns};
      }
    }
    parts_.resize(n);
  }

  /// Cuts [from, to) where the union begins and ends: `on_part(from, to, covered)` for each piece,
  /// by time. A binary search, then a step a piece.
  template <typename OnPart>
  void Cut(int64_t from_ns, int64_t to_ns, OnPart on_part) const {
    auto part = std::partition_point(parts_.begin(), parts_.end(), [from_ns](const auto& interval) {
      return interval.second <= from_ns;
    });
    while (from_ns < to_ns) {
      const bool covered = part != parts_.end() && part->first <= from_ns;
      int64_t end_ns = to_ns;
      if (part != parts_.end()) end_ns = std::min(to_ns, covered ? part->second : part->first);
      on_part(from_ns, end_ns, covered);
      if (covered) ++part;
      from_ns = end_ns;
    }
  }

 private:
  std::vector<std::pair<int64_t, int64_t>> parts_;
};

}  // namespace layerscope::analysis

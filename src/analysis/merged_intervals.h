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
    before_ns_.clear();
    int64_t sum_ns = 0;
    for (const auto& [start_ns, end_ns] : parts_) {
      before_ns_.push_back(sum_ns);
      sum_ns += end_ns - start_ns;
    }
  }

  /// How much of [from, to) is covered: two binary searches.
  int64_t CoveredNs(int64_t from_ns, int64_t to_ns) const {
    return from_ns < to_ns ? Before(to_ns) - Before(from_ns) : 0;
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
  int64_t Before(int64_t t_ns) const {
    const auto after = std::partition_point(parts_.begin(), parts_.end(),
                                            [t_ns](const auto& part) { return part.first < t_ns; });
    if (after == parts_.begin()) return 0;
    const auto part = after - 1;
    return before_ns_[static_cast<size_t>(part - parts_.begin())] + std::min(t_ns, part->second) -
           part->first;
  }

  std::vector<std::pair<int64_t, int64_t>> parts_;
  std::vector<int64_t> before_ns_;  ///< by part: what is covered before it
};

}  // namespace layerscope::analysis

#pragma once
// Length of a union of half-open intervals that arrive in any order, in bounded memory.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace layerscope::gen {

class IntervalUnion {
 public:
  void Add(int64_t start_ns, int64_t end_ns) { pending_.emplace_back(start_ns, end_ns); }

  // Settles everything: no interval added later starts before `mark_ns`.
  void Settle(int64_t mark_ns = std::numeric_limits<int64_t>::max()) {
    std::sort(pending_.begin(), pending_.end());
    size_t kept = 0;
    for (const auto& interval : pending_) {
      if (interval.first < mark_ns) {
        Extend(interval);
      } else {
        pending_[kept++] = interval;
      }
    }
    pending_.resize(kept);
  }

  // After Settle(): nanoseconds covered.
  int64_t covered_ns() const { return covered_ns_; }
  // After Settle(): intervals that start before the end of an earlier one.
  int64_t overlaps() const { return overlaps_; }

 private:
  void Extend(const std::pair<int64_t, int64_t>& interval) {
    if (any_ && interval.first < end_ns_) ++overlaps_;
    const int64_t from = any_ ? std::max(interval.first, end_ns_) : interval.first;
    if (interval.second > from) covered_ns_ += interval.second - from;
    end_ns_ = any_ ? std::max(end_ns_, interval.second) : interval.second;
    any_ = true;
  }

  std::vector<std::pair<int64_t, int64_t>> pending_;
  int64_t covered_ns_ = 0;
  int64_t end_ns_ = 0;
  int64_t overlaps_ = 0;
  bool any_ = false;
};

}  // namespace layerscope::gen

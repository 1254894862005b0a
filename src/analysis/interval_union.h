#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace layerscope::analysis {

/// The busy time of intervals that arrive by start: the length of their union. Intervals of zero or
/// negative length cover nothing.
class IntervalUnion {
 public:
  void Add(int64_t start_ns, int64_t dur_ns) {
    if (dur_ns <= 0) return;
    const int64_t end_ns = start_ns + dur_ns;
    if (end_ns <= end_ns_) return;
    busy_ns_ += end_ns - std::max(start_ns, end_ns_);
    end_ns_ = end_ns;
  }
  int64_t busy_ns() const { return busy_ns_; }

 private:
  int64_t end_ns_ = std::numeric_limits<int64_t>::min();
  int64_t busy_ns_ = 0;
};

/// The wall time of intervals in any order: from the first start to the last end.
class TimeSpan {
 public:
  void Add(int64_t start_ns, int64_t dur_ns) {
    first_ns_ = std::min(first_ns_, start_ns);
    last_ns_ = std::max(last_ns_, start_ns + std::max<int64_t>(dur_ns, 0));
  }
  bool empty() const { return first_ns_ > last_ns_; }
  int64_t first_ns() const { return empty() ? 0 : first_ns_; }
  int64_t last_ns() const { return empty() ? 0 : last_ns_; }
  int64_t wall_ns() const { return empty() ? 0 : last_ns_ - first_ns_; }

 private:
  int64_t first_ns_ = std::numeric_limits<int64_t>::max();
  int64_t last_ns_ = std::numeric_limits<int64_t>::min();
};

}  // namespace layerscope::analysis

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace layerscope::document {

/// A set of times as intervals, both ends included.
class TimeSpans {
 public:
  /// `end_ns` before `start_ns` counts as `start_ns`. Before Freeze.
  void Add(int64_t start_ns, int64_t end_ns);
  /// Sorts and merges; call once, before asking.
  void Freeze();
  bool empty() const { return spans_.empty(); }
  bool Contains(int64_t t_ns) const { return Overlaps(t_ns, t_ns); }
  /// Does any of it lie in [start_ns, end_ns]?
  bool Overlaps(int64_t start_ns, int64_t end_ns) const;

 private:
  std::vector<std::pair<int64_t, int64_t>> spans_;
};

}  // namespace layerscope::document

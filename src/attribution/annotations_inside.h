#pragma once

#include <cstdint>
#include <vector>

#include "src/trace/ids.h"

namespace layerscope::attribution {

/// Answers "does one of these annotations of the process lie inside [start, end)", whatever its
/// thread, in logarithmic time.
class AnnotationsInside {
 public:
  void Add(trace::ProcessId process, int64_t start_ns, int64_t end_ns);
  /// Call once after the last Add.
  void Freeze();
  bool Any(trace::ProcessId process, int64_t start_ns, int64_t end_ns) const;

 private:
  struct Entry {
    trace::ProcessId process;
    int64_t start_ns = 0;
    int64_t end_ns = 0;  // after Freeze: the smallest end of this process from here on
  };
  std::vector<Entry> entries_;
};

}  // namespace layerscope::attribution

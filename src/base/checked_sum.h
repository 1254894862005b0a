#pragma once

#include <cstdint>
#include <limits>

namespace layerscope::base {

/// a + b, or the nearest representable number when that does not fit.
inline int64_t AddClamped(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

/// A sum of nanoseconds that notices when it no longer fits (about 107,000 events of 24 h): the
/// value is then clamped and the caller reports an error instead of a wrong number.
class CheckedSum {
 public:
  void Add(int64_t ns) {
    int64_t sum = 0;
    if (__builtin_add_overflow(value_, ns, &sum)) overflowed_ = true;
    value_ = AddClamped(value_, ns);
  }
  int64_t value() const { return value_; }
  bool overflowed() const { return overflowed_; }

 private:
  int64_t value_ = 0;
  bool overflowed_ = false;
};

}  // namespace layerscope::base

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace layerscope::analysis {

/// The median of values that are not none; of an even number the lower of the two in the middle: a
/// value that occurred.
inline int64_t LowerMedian(std::vector<int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace layerscope::analysis

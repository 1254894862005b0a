#pragma once

#include <string>
#include <vector>

namespace layerscope::analysis {

/// Whole names up to this length stand in a table as they are where the short name does not tell
/// two kernels apart.
inline constexpr size_t kMaxWholeName = 60;

/// Names that tell kernels apart, by kernel: the short name where only one kernel has it, else the
/// whole name if it is short enough, else the short name and the part in which the whole names
/// differ ("add_rmsnorm_quant_kernel[256, 16, true]"), else " #2". `names` are distinct and as long
/// as `short_names`.
std::vector<std::string> DistinctNames(const std::vector<std::string>& names,
                                       const std::vector<std::string>& short_names);

}  // namespace layerscope::analysis

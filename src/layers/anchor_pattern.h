#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/result.h"
#include "src/trace/trace.h"

namespace layerscope::layers {

/// 1 for each name that `pattern` means, by StringId index. `is_kernel` (by StringId index) says
/// which names are those of kernels. The text is looked for in kernel_names::MatchName of each;
/// when no kernel has it there, in the raw names, so that text pasted from a mangled name works
/// too. kUsage: not a pattern. kFailed: no kernel matches; says which kernels come near.
base::Result<std::vector<uint8_t>> MatchAnchor(const trace::StringPool& strings,
                                               const std::vector<uint8_t>& is_kernel,
                                               const std::string& pattern);

}  // namespace layerscope::layers

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"

namespace layerscope::analysis {

/// kNotFound for a selection that does not exist: "no step '7' in this input", with what exists as
/// the hint, at most a line of it. Suggests the nearest name unless `wanted` is a number.
base::Error NotFound(std::string_view what, const std::string& wanted,
                     const std::vector<std::string>& existing);

}  // namespace layerscope::analysis

#pragma once

#include <regex>
#include <string>

#include "src/base/result.h"

namespace layerscope::analysis {

/// An ECMAScript regular expression of the user. kUsage with the reason when it is none.
base::Result<std::regex> CompilePattern(const std::string& pattern);

}  // namespace layerscope::analysis

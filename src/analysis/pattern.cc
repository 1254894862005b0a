#include "src/analysis/pattern.h"

#include <fmt/format.h>

namespace layerscope::analysis {

base::Result<std::regex> CompilePattern(const std::string& pattern) {
  try {
    return std::regex(pattern, std::regex::ECMAScript | std::regex::optimize);
  } catch (const std::regex_error& error) {
    return base::Error{base::ErrorCode::kUsage,
                       fmt::format("'{}' is no regular expression: {}", pattern, error.what()),
                       "write ECMAScript syntax; quote it for the shell"};
  }
}

}  // namespace layerscope::analysis

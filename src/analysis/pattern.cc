#include "src/analysis/pattern.h"

#include <fmt/format.h>

namespace layerscope::analysis {
namespace {

constexpr size_t kMaxPatternBytes = 512;

std::regex::flag_type Flags() {
  std::regex::flag_type flags = std::regex::ECMAScript | std::regex::optimize;
#ifdef __GLIBCXX__
  // libstdc++'s other executor takes exponential time for patterns like (a+)+$ and recurses for
  // every character; this one knows no back references.
  flags |= std::regex_constants::__polynomial;
#endif
  return flags;
}

}  // namespace

base::Result<std::regex> CompilePattern(const std::string& pattern) {
  if (pattern.size() > kMaxPatternBytes) {
    return base::Error{base::ErrorCode::kUsage, "the regular expression is too long",
                       fmt::format("at most {} bytes", kMaxPatternBytes)};
  }
  try {
    return std::regex(pattern, Flags());
  } catch (const std::regex_error& error) {
    return base::Error{base::ErrorCode::kUsage,
                       fmt::format("'{}' is no regular expression: {}", pattern, error.what()),
                       "write ECMAScript syntax without back references; quote it for the shell"};
  }
}

}  // namespace layerscope::analysis

#include "src/analysis/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace layerscope::analysis {
namespace {

constexpr size_t kMaxPatternBytes = 512;
/// Each may be tried at every character of every name: 250 of them took seconds on a few hundred.
constexpr std::ptrdiff_t kMaxOperators = 32;

std::ptrdiff_t CountOperators(const std::string& pattern) {
  return std::count_if(pattern.begin(), pattern.end(), [](char c) {
    return std::string_view("*+?{|").find(c) != std::string_view::npos;
  });
}

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
  if (CountOperators(pattern) > kMaxOperators) {
    return base::Error{base::ErrorCode::kUsage, "the regular expression takes too long",
                       fmt::format("use at most {} of * + ? {{ |", kMaxOperators)};
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

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"

namespace layerscope::kernel_names {

/// One pattern of a rule, ready to match:
///   text       is contained in the name;
///   te*xt      `te` and, somewhere after it, `xt`; `^` in front and `$` at the end anchor;
///   /regex/    an ECMAScript regular expression, without back references, found in the name.
/// Matching is linear in the name, also for regular expressions (no backtracking, no recursion over
/// the name), so hostile names cost nothing.
class Pattern {
 public:
  /// Bounds of a regular expression: its length, and the product of its counted repeats.
  static constexpr size_t kMaxRegexBytes = 512;
  static constexpr size_t kMaxRegexRepeats = 32;

  /// kUsage for an empty pattern, and for an expression that is invalid or beyond the bounds.
  static base::Result<Pattern> Compile(std::string_view text, bool ignore_case);

  /// With ignore_case, `name` must be in lower case already (ToLower).
  bool Matches(std::string_view name) const;

 private:
  struct Regex;

  std::vector<std::string> pieces_;  ///< what stands between the stars
  bool at_begin_ = false;
  bool at_end_ = false;
  std::shared_ptr<const Regex> regex_;
};

/// ASCII letters in lower case.
std::string ToLower(std::string_view text);

}  // namespace layerscope::kernel_names

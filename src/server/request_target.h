#pragma once

#include <map>
#include <string>
#include <string_view>

#include "src/base/result.h"

namespace layerscope::server {

/// What a request asks for: "/api/analysis/modules?depth=3&no-comm" in parts.
struct RequestTarget {
  std::string path;  ///< as it was sent: no route holds an escape, so none is resolved
  /// Decoded; a name without "=" has the value "true", as a flag of the command line.
  std::map<std::string, std::string> query;
};

/// Longer targets are refused: a module's path of 5 kB, each byte escaped, still fits.
inline constexpr size_t kMaxTargetBytes = size_t{24} << 10;

/// Parses a target in origin form. kUsage for other forms, control characters, bad escapes, a NUL
/// and a name that stands twice.
base::Result<RequestTarget> ParseRequestTarget(std::string_view target);

/// The key under which an answer is kept: path and query in order of name, percent-encoded as
/// JavaScript's encodeURIComponent does it: "modules?depth=3&no-comm".
std::string SliceKey(std::string_view verb, const std::map<std::string, std::string>& query);

}  // namespace layerscope::server

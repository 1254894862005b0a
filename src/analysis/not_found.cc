#include "src/analysis/not_found.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/nearest.h"

namespace layerscope::analysis {
namespace {

/// As many names of what exists as fit into one line of an error.
constexpr size_t kNamesInError = 12;

}  // namespace

base::Error NotFound(std::string_view what, const std::string& wanted,
                     const std::vector<std::string>& existing) {
  base::Error error;
  error.code = base::ErrorCode::kNotFound;
  // Numbers are near to each other without being meant.
  const bool is_number = wanted.find_first_not_of("0123456789.") == std::string::npos;
  error.message = fmt::format("no {} '{}' in this input{}", what, wanted,
                              is_number ? "" : base::DidYouMean(wanted, existing));
  if (existing.empty()) {
    error.hint = fmt::format("it has no {}", what);
    return error;
  }
  const size_t shown = std::min(existing.size(), kNamesInError);
  error.hint = fmt::format("{}: {}", existing.size() == 1 ? "there is" : "there are",
                           fmt::join(existing.begin(), existing.begin() + shown, ", "));
  if (shown < existing.size()) error.hint += fmt::format(", … ({} in all)", existing.size());
  return error;
}

}  // namespace layerscope::analysis

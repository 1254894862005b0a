#include "src/analysis/not_found.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

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
  // What several recordings have is there once.
  std::set<std::string_view> seen;
  std::vector<std::string_view> names;
  for (const std::string& name : existing) {
    if (seen.insert(name).second) names.push_back(name);
  }
  const size_t shown = std::min(names.size(), kNamesInError);
  error.hint = fmt::format("{}: {}", names.size() == 1 ? "there is" : "there are",
                           fmt::join(names.begin(), names.begin() + shown, ", "));
  if (shown < names.size()) error.hint += fmt::format(", … ({} in all)", names.size());
  return error;
}

}  // namespace layerscope::analysis

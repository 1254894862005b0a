#include "src/layers/anchor_pattern.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "src/base/nearest.h"
#include "src/kernel_names/kernel_name.h"
#include "src/kernel_names/pattern.h"
#include "src/layers/kernel_class.h"

namespace layerscope::layers {
namespace {

constexpr size_t kNamesInHint = 6;

/// Norms are what opens most layers, so they are what a user looks for first.
base::Error NothingMatches(const trace::StringPool& strings, const std::vector<uint8_t>& is_kernel,
                           const std::string& pattern) {
  std::vector<std::string> norms;
  std::vector<std::string> all;
  const auto add = [](std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  constexpr size_t kMostNames = 512;
  for (size_t i = 0; i < is_kernel.size() && all.size() < kMostNames; ++i) {
    if (is_kernel[i] == 0) continue;
    const std::string_view full = strings[trace::StringId(i)];
    const std::string name = kernel_names::OwnName(full);
    add(all, name);
    if (ClassifyKernel(full).kind == KernelClass::kNorm) add(norms, name);
  }
  base::Error error;
  error.code = base::ErrorCode::kFailed;
  error.message =
      fmt::format("no kernel matches the anchor '{}'{}", pattern, base::DidYouMean(pattern, all));
  const std::vector<std::string>& shown = norms.empty() ? all : norms;
  const size_t n = std::min(shown.size(), kNamesInHint);
  if (n == 0) {
    error.hint = "no kernel ran in this selection";
  } else {
    error.hint = fmt::format("{} here: {}{}", norms.empty() ? "kernels" : "norm kernels",
                             fmt::join(shown.begin(), shown.begin() + n, ", "),
                             n < shown.size() ? ", …" : "");
  }
  return error;
}

}  // namespace

std::vector<uint8_t> KernelNames::Match(const std::string& pattern) {
  std::vector<uint8_t> matches(strings_->size(), 0);
  const auto compiled = kernel_names::Pattern::Compile(pattern, false);
  if (!compiled.ok()) return matches;
  if (readable_.empty()) {
    readable_.resize(is_kernel_->size());
    for (size_t i = 0; i < is_kernel_->size(); ++i) {
      if ((*is_kernel_)[i] != 0) {
        readable_[i] = kernel_names::MatchName((*strings_)[trace::StringId(i)]);
      }
    }
  }
  for (const bool raw : {false, true}) {
    bool any = false;
    for (size_t i = 0; i < is_kernel_->size(); ++i) {
      if ((*is_kernel_)[i] == 0) continue;
      const std::string_view full =
          (*strings_)[trace::StringId(i)].substr(0, kernel_names::kMaxNameBytes);
      const bool match = compiled->Matches(raw ? full : std::string_view(readable_[i]));
      matches[i] = match ? 1 : 0;
      any = any || match;
    }
    if (any) break;
  }
  return matches;
}

base::Result<std::vector<uint8_t>> MatchAnchor(KernelNames& names, const std::string& pattern) {
  if (auto compiled = kernel_names::Pattern::Compile(pattern, false); !compiled.ok()) {
    return std::move(compiled).error();
  }
  std::vector<uint8_t> matches = names.Match(pattern);
  const bool any = std::any_of(matches.begin(), matches.end(), [](uint8_t m) { return m != 0; });
  if (!any) return NothingMatches(names.strings(), names.is_kernel(), pattern);
  const auto n_names = std::count_if(names.is_kernel().begin(), names.is_kernel().end(),
                                     [](uint8_t kernel) { return kernel != 0; });
  const auto n_matches =
      std::count_if(matches.begin(), matches.end(), [](uint8_t m) { return m != 0; });
  if (n_names > 1 && n_matches == n_names) {
    base::Error error = NothingMatches(names.strings(), names.is_kernel(), pattern);
    error.message = fmt::format(
        "the anchor '{}' matches all {} kernel names: an anchor names a kernel that marks a place "
        "in each layer",
        pattern, n_names);
    return error;
  }
  return matches;
}

}  // namespace layerscope::layers

#include "src/attribution/module_paths.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "src/attribution/tree_match.h"
#include "src/base/format_number.h"

namespace layerscope::attribution {
namespace {

using table::HealthEntry;
using table::Severity;

/// Modules that were recorded by path have their class from the tree. Returns how many there are
/// and how many of them the tree lacks.
std::pair<int64_t, int64_t> NameClassesOfPaths(const model::ModelTree& tree, trace::Trace& trace,
                                               std::vector<Module>& modules) {
  std::pair<int64_t, int64_t> counts;
  for (Module& module : modules) {
    if (!module.path.valid()) continue;
    ++counts.first;
    const int32_t at = tree.Find(trace.strings[module.path]);
    if (at < 0) {
      ++counts.second;
    } else {
      module.class_name = trace.strings.Intern(tree.modules[static_cast<size_t>(at)].class_name);
    }
  }
  return counts;
}

HealthEntry Mismatch(int64_t count, std::string why) {
  return {"model_tree_mismatch", Severity::kWarning, count,
          fmt::format("the model tree is not of this trace: {}; no paths were taken from it",
                      std::move(why))};
}

}  // namespace

std::vector<HealthEntry> ApplyModelTree(const model::ModelTree& tree, trace::Trace& trace,
                                        Attribution& attribution) {
  std::vector<Module>& modules = attribution.modules.modules;
  if (modules.empty()) return {};
  const TreeMatch match = MatchModelTree(tree, trace, attribution.modules);
  if (match.n_misfits > 0) return {Mismatch(match.n_misfits, match.misfit)};
  std::vector<HealthEntry> warnings;
  const auto [n_paths, n_unknown] = NameClassesOfPaths(tree, trace, modules);
  if (n_paths == 0 && match.n_instances == 0) {
    return {Mismatch(static_cast<int64_t>(modules.size()), "none of its classes is in the tree")};
  }
  if (n_unknown > 0) {
    warnings.push_back({"model_tree_mismatch", Severity::kWarning, n_unknown,
                        fmt::format("{} of {} recorded module paths are not in the model tree",
                                    base::FormatCount(n_unknown), base::FormatCount(n_paths))});
  }
  for (size_t i = 0; i < modules.size(); ++i) {
    const int32_t at = match.tree_of_module[i];
    if (at == TreeMatch::kNone) continue;
    modules[i].path = trace.strings.Intern(tree.modules[static_cast<size_t>(at)].path);
  }
  attribution.category_of_name.resize(trace.strings.size(), kernel_names::CategoryId(0));
  if (match.n_by_data > 0) {
    warnings.push_back({"model_tree_experts", Severity::kInfo, match.n_by_data,
                        "experts are called in an order that depends on the data: modules of "
                        "their classes keep their class for a path"});
  }
  const int64_t n_left = match.n_instances - match.n_matched - match.n_by_data;
  if (n_left > 0) {
    warnings.push_back(
        {"model_tree_partial", Severity::kInfo, n_left,
         fmt::format("{} of {} modules keep their class for a path: the model tree {}",
                     base::FormatCount(n_left), base::FormatCount(match.n_instances),
                     tree.call_order.empty() ? "has no call_order, and as many like siblings were "
                                               "not called"
                                             : "has no call of theirs")});
  }
  return warnings;
}

}  // namespace layerscope::attribution

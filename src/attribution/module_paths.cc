#include "src/attribution/module_paths.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "src/attribution/activity_warnings.h"
#include "src/attribution/tree_match.h"
#include "src/base/checked_sum.h"
#include "src/base/format_number.h"

namespace layerscope::attribution {
namespace {

using table::HealthEntry;
using table::Severity;

/// Of the modules inside the model so many in a hundred may be unknown to the tree: what a hook or
/// a wrapper adds. Another engine's modules of the same model are a third and more.
constexpr int64_t kMostForeignPercent = 10;

bool AreTooMany(int64_t n_foreign, int64_t n_all) {
  return n_foreign * 100 > n_all * kMostForeignPercent;
}

/// Modules that were recorded by path.
struct PathCount {
  int64_t n = 0;
  int64_t n_unknown = 0;  ///< the tree lacks them, or has another module there
  std::string unknown{};  ///< the first of them
};

/// Does the tree have this class at this path? One that is not recorded may be any.
bool HasClassAt(const model::ModelTree& tree, int32_t at, const trace::Trace& trace,
                const ModuleTree& modules, ModuleId id) {
  return !modules.IsNamedByClass(id, trace) ||
         tree.modules[static_cast<size_t>(at)].class_name == modules.ClassOf(id, trace);
}

PathCount CountPaths(const model::ModelTree& tree, const trace::Trace& trace,
                     const ModuleTree& modules) {
  PathCount count;
  for (size_t i = 0; i < modules.modules.size(); ++i) {
    const Module& module = modules.modules[i];
    if (!module.path.valid()) continue;
    ++count.n;
    const std::string_view path = trace.strings[module.path];
    const int32_t at = tree.Find(path);
    if (at >= 0 && HasClassAt(tree, at, trace, modules, ModuleId(i))) continue;
    if (count.n_unknown++ > 0) continue;
    count.unknown = path.empty() ? "the model itself" : path;
    if (at >= 0) count.unknown += fmt::format(", {}", trace.strings[module.name]);
  }
  return count;
}

/// Modules that were recorded by path alone have their class from the tree.
void NameClassesOfPaths(const model::ModelTree& tree, trace::Trace& trace, ModuleTree& modules) {
  for (size_t i = 0; i < modules.modules.size(); ++i) {
    Module& module = modules.modules[i];
    if (!module.path.valid() || modules.IsNamedByClass(ModuleId(i), trace)) continue;
    const int32_t at = tree.Find(trace.strings[module.path]);
    if (at < 0) continue;
    module.class_name = trace.strings.Intern(tree.modules[static_cast<size_t>(at)].class_name);
  }
}

struct Misfit {
  int64_t count = 0;
  std::string why{};  ///< one clause; empty: the tree fits
};

/// Why the tree is not of this trace's model.
Misfit MisfitOf(const TreeMatch& match, const PathCount& paths, size_t n_modules) {
  if (match.n_misfits > 0) return {match.n_misfits, match.misfit};
  if (paths.n == 0 && match.n_instances == 0) {
    return {static_cast<int64_t>(n_modules), "none of its classes is in the tree"};
  }
  const int64_t n_inside = match.n_foreign + match.n_instances;
  if (AreTooMany(match.n_foreign, n_inside)) {
    return {match.n_foreign,
            fmt::format("{} of {} modules inside the model are of classes that the tree does not "
                        "have ({}), as of another engine",
                        base::FormatCount(match.n_foreign), base::FormatCount(n_inside),
                        match.foreign)};
  }
  if (AreTooMany(paths.n_unknown, paths.n)) {
    return {
        paths.n_unknown,
        fmt::format("{} of {} recorded module paths are not in it or of other classes ({})",
                    base::FormatCount(paths.n_unknown), base::FormatCount(paths.n), paths.unknown)};
  }
  return {};
}

/// What the tree could not name although it is of this model.
void AddUnnamed(const model::ModelTree& tree, const TreeMatch& match, const PathCount& paths,
                std::vector<HealthEntry>& health) {
  if (paths.n_unknown > 0) {
    health.push_back(
        {"model_tree_partial", Severity::kInfo, paths.n_unknown,
         fmt::format("{} of {} recorded module paths are not in the model tree or of other "
                     "classes there ({}): what is recorded stays.",
                     base::FormatCount(paths.n_unknown), base::FormatCount(paths.n),
                     paths.unknown)});
  }
  if (match.n_by_data > 0) {
    health.push_back({"model_tree_experts", Severity::kInfo, match.n_by_data,
                      "Experts are called in an order that depends on the data: modules of "
                      "their classes keep their class for a path."});
  }
  const int64_t n_all = match.n_instances + match.n_foreign;
  const auto add_left = [&](int64_t n_left, std::string_view why) {
    if (n_left == 0) return;
    health.push_back(
        {"model_tree_partial", Severity::kInfo, n_left,
         fmt::format("{} of {} modules keep their class for a path: the model tree {}.",
                     base::FormatCount(n_left), base::FormatCount(n_all), why)});
  };
  add_left(match.n_other,
           fmt::format("does not have the other model that calls them ({})", match.other));
  add_left(match.n_made_anew,
           fmt::format(
               "has fewer of their class than are called ({}), as where a forward makes them anew",
               match.made_anew));
  add_left(
      match.n_instances - match.n_matched - match.n_by_data - match.n_other - match.n_made_anew,
      tree.call_order.empty() ? "has no call_order, and as many like siblings were not called"
                              : "has no call of theirs");
  add_left(match.n_foreign, fmt::format("does not have their classes ({})", match.foreign));
}

/// More time is hidden below graph launches than the modules that are known have: that none of
/// these few is in the tree says nothing of the tree.
bool HidesTheModel(const trace::Trace& trace, const Attribution& attribution) {
  int64_t hidden_ns = 0;
  int64_t known_ns = 0;
  const trace::Activities& rows = attribution.rows(trace);
  for (size_t row = 0; row < rows.size(); ++row) {
    int64_t* const sum_ns = IsHiddenByGraph(attribution, row) ? &hidden_ns
                            : attribution.module[row].valid() ? &known_ns
                                                              : nullptr;
    if (sum_ns != nullptr) *sum_ns = base::AddClamped(*sum_ns, rows.dur_ns[row]);
  }
  return hidden_ns > known_ns;
}

/// Neither does the tree name a module nor does a module speak against it.
TreeNaming NothingToName() {
  TreeNaming naming;
  naming.misfit =
      "the model tree named nothing: the modules below the graph launches are not known";
  naming.health.push_back({"model_tree_unused", Severity::kInfo, 1,
                           "The model tree names no module of this trace as long as those below "
                           "its graph launches are not known."});
  return naming;
}

}  // namespace

TreeNaming ApplyModelTree(const model::ModelTree& tree, trace::Trace& trace,
                          Attribution& attribution) {
  std::vector<Module>& modules = attribution.modules.modules;
  TreeNaming naming;
  if (modules.empty()) return naming;
  const TreeMatch match = MatchModelTree(tree, trace, attribution.modules);
  const PathCount paths = CountPaths(tree, trace, attribution.modules);
  const bool meets_none = match.n_misfits == 0 && paths.n == 0 && match.n_instances == 0;
  if (meets_none && HidesTheModel(trace, attribution)) return NothingToName();
  if (const Misfit misfit = MisfitOf(match, paths, modules.size()); !misfit.why.empty()) {
    naming.misfit = "the model tree is not of this trace: " + misfit.why;
    naming.health.push_back(
        {"model_tree_mismatch", Severity::kWarning, misfit.count,
         fmt::format("The model tree is not of this trace: {}; no paths were taken from it.",
                     misfit.why)});
    return naming;
  }
  NameClassesOfPaths(tree, trace, attribution.modules);
  for (size_t i = 0; i < modules.size(); ++i) {
    const int32_t at = match.tree_of_module[i];
    if (at == TreeMatch::kNone || modules[i].path.valid()) continue;  // the trace's own path stays
    modules[i].path = trace.strings.Intern(tree.modules[static_cast<size_t>(at)].path);
  }
  attribution.category_of_name.resize(trace.strings.size(), kernel_names::CategoryId(0));
  AddUnnamed(tree, match, paths, naming.health);
  return naming;
}

}  // namespace layerscope::attribution

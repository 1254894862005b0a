#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/module_nodes.h"
#include "src/base/result.h"
#include "src/table/table.h"

namespace layerscope::analysis {

/// The key of what no regular expression matches.
inline constexpr std::string_view kOtherModules = "[other]";

/// One row of a roll-up: the modules of one key. Inclusive sums and calls are over modules without
/// an ancestor of the same key, so nothing counts twice; exclusive sums over all. By captures the
/// modules below such a one belong to it and are no modules of their own. What matches nothing is
/// `[other]`: its inclusive sums are its own time outside of every module that matches, so that
/// those of a pattern with one key a module add up to the attributed time; it has no calls.
struct RollupRow {
  std::string key;
  std::vector<std::string> captures;
  int64_t n_modules = 0;
  int64_t calls = 0;
  int64_t cpu_ns = 0;
  int64_t gpu_incl_ns = 0;
  int64_t gpu_excl_ns = 0;
  int64_t kernel_incl_ns = 0;
  int64_t kernel_excl_ns = 0;
  int64_t kernels_incl = 0;
  int64_t kernels_excl = 0;
  int64_t activities_incl = 0;
  EvidenceSums evidence_ns{};
  bool is_other() const { return key == kOtherModules; }
};

/// Groups modules by class, by path (numbers folded to `*`), or by the captures of a regular
/// expression on the path: joined by ".", the whole match when there is no group, `[other]` when it
/// does not match. Classes and paths come by inclusive time, captures in order of appearance.
/// kNotFound when no path matches.
base::Result<std::vector<RollupRow>> RollUp(const std::vector<ModuleNode>& nodes,
                                            const std::string& by);

/// The largest inclusive time first, `[other]` last: captures as people read them.
void OrderForPeople(std::vector<RollupRow>& rows);

/// The path with the number of every name replaced: "Layer_7.Attention_7" -> "Layer_*.Attention_*",
/// "model.layers.7.mlp" -> "model.layers.*.mlp".
std::string FoldNumbers(std::string_view path);

}  // namespace layerscope::analysis

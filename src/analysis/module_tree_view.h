#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/analysis/module_nodes.h"
#include "src/analysis/modules.h"
#include "src/base/result.h"

namespace layerscope::analysis {

/// The module tree as the options want it: the rows to list, and what is left out of the list.
struct ModuleTreeView {
  std::vector<ModuleNode> nodes;   ///< depth-first; `parent` is an id of the list, or -1
  int64_t n_not_listed = 0;        ///< modules left out by --root, --match, --depth
  int64_t not_listed_excl_ns = 0;  ///< their exclusive time
};

/// Applies --root, --match, --collapse and --depth, in this order. kNotFound when --root or --match
/// mean no module, kUsage for a depth of 0.
base::Result<ModuleTreeView> ViewTree(const ModuleNodes& tree, const ModulesOptions& options);

/// What a path looks like, for the hint of an error: "paths look like Model_0.Layer_7.MLP_7".
std::string ExampleOf(const std::vector<ModuleNode>& nodes);

/// Siblings put into the order of `rank_of` (by node); parents stay before their children.
std::vector<ModuleNode> SortSiblings(std::vector<ModuleNode> nodes,
                                     const std::vector<size_t>& rank_of);

}  // namespace layerscope::analysis

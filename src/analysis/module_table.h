#pragma once

#include <vector>

#include "src/analysis/module_nodes.h"
#include "src/analysis/module_tree_view.h"
#include "src/analysis/rollup.h"
#include "src/table/result.h"

namespace layerscope::analysis {

/// The `nodes` of CLI.md, every key; the headings are those that people see, for --sort.
table::Table NodesForMachines(const RankView& view, std::vector<ModuleNode> nodes);
/// The tree as people read it: modules indented, `[unattributed]` as a row, notes on what is not
/// listed.
table::Block BlockOfNodes(const RankView& view, const ModuleNodes& tree,
                          const ModuleTreeView& shown, const Presentation& presentation);

/// The few rows of `summary`: name, kernels, time, own time.
table::Block BlockOfTopModules(const RankView& view, const ModuleNodes& tree,
                               std::vector<ModuleNode> rows);

table::Table RollupForMachines(const RankView& view, std::vector<RollupRow> rows);
table::Table RollupForPeople(const RankView& view, const ModuleNodes& tree,
                             std::vector<RollupRow> rows);

/// "[unattributed] is graph_launch 3.1 %, outside_scopes 1.2 %"; empty when all is attributed.
std::string UnattributedText(const ModuleNodes& tree);

}  // namespace layerscope::analysis

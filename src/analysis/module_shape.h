#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/analysis/module_nodes.h"

namespace layerscope::analysis {

/// Which siblings are alike. Two modules are alike when they have one class and their children,
/// runs folded, are alike in order; so layers with a different number of active experts are alike.
struct ModuleShapes {
  std::vector<uint32_t> shape_of;  ///< by node; equal = alike
  /// By node: its children in order, as runs; a run of several is folded into one row.
  std::vector<std::vector<std::vector<uint32_t>>> runs_of;
  std::vector<std::vector<uint32_t>> root_runs;
};

/// A run of like siblings is folded when they have children (layers, experts), or when there are at
/// least kLeafRun of them: q, k, v and o projections stay four rows.
inline constexpr size_t kLeafRun = 5;
ModuleShapes FindShapes(const std::vector<ModuleNode>& nodes);

/// The tree with folded runs merged, member by member, all the way down: sums, `repeat`, and the
/// smallest and largest inclusive time of the members.
std::vector<ModuleNode> CollapseRuns(const std::vector<ModuleNode>& nodes);

}  // namespace layerscope::analysis

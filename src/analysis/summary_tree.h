#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/analysis/module_nodes.h"

namespace layerscope::analysis {

/// The rows of the collapsed tree that tell most in few lines: the roots, then again and again the
/// children of the row with the most time, as long as they fit. Modules under a hundredth of the
/// total are left out. Rows stay depth-first; `parent` refers to the shown rows.
std::vector<ModuleNode> ChooseTopModules(const std::vector<ModuleNode>& collapsed, int64_t total_ns,
                                         size_t n_rows);

}  // namespace layerscope::analysis

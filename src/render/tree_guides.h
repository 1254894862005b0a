#pragma once

#include <string>
#include <vector>

namespace layerscope::render {

/// The lines in front of the names of a tree whose rows stand parent before child: "│ ├─". Roots
/// (the smallest depth) have none. `cells_per_level` is 2, or 1 where deep trees meet narrow
/// terminals.
std::vector<std::string> TreeGuides(const std::vector<int>& depths, int cells_per_level);

}  // namespace layerscope::render

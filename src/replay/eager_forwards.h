#pragma once

#include <vector>

#include "src/replay/recording.h"

namespace layerscope::replay {

/// The forwards of a trace whose kernels were launched one by one, in order of their first launch:
/// one an engine step; where nothing says steps, one a call of the first root module, with what
/// follows it. Nodes stand in launch order. Steps that replay graphs are left out, and what has
/// neither step nor module scope.
std::vector<Recording> FindEagerForwards(const SideTrace& side);

}  // namespace layerscope::replay

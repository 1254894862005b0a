#pragma once

#include <vector>

#include "src/replay/recording.h"

namespace layerscope::replay {

/// The forwards that were captured in a trace, in order of thread and time, each with its pieces.
/// A node's op and module are those around its launch call on its thread.
std::vector<Recording> FindCaptures(const SideTrace& source);

}  // namespace layerscope::replay

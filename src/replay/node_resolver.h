#pragma once

#include "src/replay/resolution.h"

namespace layerscope::replay {

/// Says what attribution already knows of each graph launch of a trace with graph nodes: the
/// modules in which its nodes were captured (evidence graph_node). A launch of which it knows none
/// is left to the other sources, and its reason says why. Does nothing in other traces.
void NoteCapturedNodes(Resolution& resolution);

}  // namespace layerscope::replay

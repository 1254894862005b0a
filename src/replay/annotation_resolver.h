#pragma once

#include "src/replay/resolution.h"
#include "src/replay/resolve.h"

namespace layerscope::replay {

/// Places the activities of graph launches by their graph node ids (evidence graph_node). All
/// graphs of which the annotations know a node are judged together (annotation_fit.h), for the
/// pieces of a forward are too small to contradict a wrong file; where they do not fit nothing is
/// taken from them and the outcomes say why. Nodes without a name stay as they are.
void ResolveByAnnotations(Resolution& resolution, const Sources& sources);

}  // namespace layerscope::replay

#pragma once

#include "src/replay/resolution.h"
#include "src/replay/resolve.h"

namespace layerscope::replay {

/// The weakest source (evidence template): layers that were found in the kernels' order take their
/// modules from a layer of this trace that is resolved and runs the same kernels; else from the
/// modules that the config implies. Neither says anything of a kernel that it does not explain.
void ResolveByTemplate(Resolution& resolution, const Sources& sources);

}  // namespace layerscope::replay

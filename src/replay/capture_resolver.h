#pragma once

#include "src/replay/resolution.h"
#include "src/replay/resolve.h"

namespace layerscope::replay {

/// Lays captures over the graph launches that are not placed yet (evidence capture_alignment). The
/// launches of a step are read as forwards: whole captures, or the pieces of one in their order
/// (forward_layout.h). For each step the captures of its own batch and this trace's rank are tried
/// first, then the next larger ones, then the others. A capture is used when kEnoughAligned of the
/// replayed kernels have a place in it, few of them several, and at most kMostMissing of its own
/// are missing; kernels with several places are left alone; else the launch's outcome says why not.
/// Where several fit equally well and would name modules differently, none is used. Launches whose
/// kernels carry one deferred time stamp have no order and are withheld.
void ResolveByCaptures(Resolution& resolution, const Sources& sources);

}  // namespace layerscope::replay

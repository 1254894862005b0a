#pragma once

#include "src/replay/resolution.h"
#include "src/replay/resolve.h"

namespace layerscope::replay {

/// Lays forwards that ran kernel by kernel over the forwards of this trace that replay graphs, and
/// takes modules and ops from them (evidence eager_alignment): whole steps, graph rows and those
/// launched beside, in order and by kernel name. The eager forward may have more (embedding,
/// sampling); of the replayed kernels kEnoughAligned must find their place, or nothing is taken and
/// the outcome says how many did. Forwards of the same phase and batch are tried first. Without an
/// eager trace this trace's own eager steps are tried, and nothing is said when they do not fit.
void ResolveByEager(Resolution& resolution, const Sources& sources);

}  // namespace layerscope::replay

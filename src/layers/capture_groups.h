#pragma once

#include <vector>

#include "src/layers/pass_group.h"
#include "src/trace/trace.h"

namespace layerscope::layers {

/// The graph captures of a trace, one forward each: the launch calls between the end of a
/// *StreamBeginCapture and the start of the next *StreamEndCapture on one thread, by time
/// (formats/kineto.md, "Graph replay and capture"). Tokens' rows are calls; their names are the
/// kernels that the calls name (ROCm), else those of the calls. Pieces of one piecewise capture are
/// joined, a seam before each but the first: those under one capture_<n>_<MODE> annotation, else
/// runs of pieces with at most one mixer each. `process` (when valid) chooses the process.
std::vector<PassGroup> BuildCaptureGroups(const trace::Trace& trace, trace::ProcessId process,
                                          NameTraits& traits);

/// Do all launches of a capture name their kernels?
bool NamesItsKernels(const trace::Trace& trace, const PassGroup& capture);

}  // namespace layerscope::layers

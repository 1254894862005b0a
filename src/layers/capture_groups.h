#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "src/attribution/captured_pieces.h"
#include "src/layers/pass_group.h"
#include "src/trace/trace.h"

namespace layerscope::layers {

/// The pieces of one captured forward: [begin, end) into all pieces.
struct CapturedForward {
  size_t begin = 0, end = 0;
};

/// Which pieces make one forward, all of them launching kernels: those of a thread under one
/// capture_<n>_<MODE> annotation, else runs of pieces with at most one mixer each. Piecewise
/// captures of several batch sizes repeat the sizes of their pieces.
std::vector<CapturedForward> JoinPieces(const trace::Trace& trace,
                                        std::span<const attribution::CapturedPiece> pieces,
                                        NameTraits& traits);

/// Drops the pieces that launch no kernel.
void KeepLaunching(std::vector<attribution::CapturedPiece>& pieces);

/// The graph captures of a trace, one forward each (attribution::FindCapturedPieces, JoinPieces).
/// Tokens' rows are calls; their names are the kernels that the calls name (ROCm), else those of
/// the calls. A seam stands before each piece of a forward but the first. `process` (when valid)
/// chooses the process.
std::vector<PassGroup> BuildCaptureGroups(const trace::Trace& trace, trace::ProcessId process,
                                          NameTraits& traits);

/// Do all launches of a capture name their kernels?
bool NamesItsKernels(const trace::Trace& trace, const PassGroup& capture);

}  // namespace layerscope::layers

#pragma once

#include "src/replay/label_reader.h"
#include "src/replay/piece_fit.h"
#include "src/trace/trace.h"

namespace layerscope::replay {

/// Lays a graph launch over a piece that names no kernels: the numbers of kernels must be equal,
/// and then ops and kernels are compared place by place. A place disagrees when its op does another
/// kind of work than its kernels, is named like another kernel, or when the kernel is of another
/// kind than elsewhere under the same label. Where branches run on several lanes, the ways to
/// interleave them are those in which kinds of work agree; kernels that are certain in all of them
/// teach what to expect of the others. `fit.agreeing` counts the kernels that something speaks for.
PieceFit FitByLabels(const trace::Trace& trace, const ReplayedSequence& replayed,
                     const RecordedSequence& recorded, const RecordedLabels& labels);

}  // namespace layerscope::replay

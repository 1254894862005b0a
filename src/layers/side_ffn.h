#pragma once

#include "src/layers/pass_group.h"
#include "src/trace/trace.h"

namespace layerscope::layers {

/// Does an FFN chain on a side stream run on while the main stream already mixes again? Then two
/// mixers are halves of one layer (LongCat), or the chain is the layer's own and the next mixer
/// another layer's: kernels alone do not tell. A chain lasts from one kernel of the stream's first
/// FFN name to the next; half of the chains must reach across a mixer.
bool RunsFfnAcrossMixers(const trace::Trace& trace, const PassGroup& group, NameTraits& traits);

}  // namespace layerscope::layers

#pragma once

#include <optional>

#include "src/layers/layer_structure.h"
#include "src/trace/trace.h"

namespace layerscope::layers {

/// The first pass of the steady state (formats/profiles.md, "Steady state"): of three whole passes
/// of one phase and batch in a row whose layer-0 wall times differ by at most 5 % from one to the
/// next, the earliest. Captures and draft models take no part. Needs the layer column.
std::optional<size_t> FindSteadyPass(const trace::Activities& rows,
                                     const LayerStructure& structure);

}  // namespace layerscope::layers

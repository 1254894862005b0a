#pragma once

#include "src/layers/layer_structure.h"
#include "src/replay/resolution.h"

namespace layerscope::replay {

/// Gives layers under graph launches the modules of a resolved layer of the same trace that has the
/// same type and runs the same kernels in the same order: the layer of the same index in another
/// pass, else of another index. Then its own number stands in the names where the trace knows the
/// layer module of that index, and none where it does not: `Qwen3DecoderLayer`.
void ResolveBySiblings(Resolution& resolution, const layers::LayerStructure& structure);

}  // namespace layerscope::replay

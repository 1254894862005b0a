#pragma once

#include <vector>

#include "src/layers/layer_structure.h"
#include "src/layers/pass_placement.h"
#include "src/model/model_config.h"

namespace layerscope::layers {

/// Gives every layer its type. With a config that has as many layers as the model: the config's,
/// and a warning where layers of one type run different kernels. Else "A", "B", … by kernel
/// sequence, the same for one layer in all passes; layer 0 and the last layer take the type they
/// are most like when they differ from it in a few kernels only (a plain norm instead of a fused
/// one). Draft models have types of their own.
void AssignTypes(const model::ModelConfig* config, const std::vector<PlacedPass>& passes,
                 LayerStructure& out);

}  // namespace layerscope::layers

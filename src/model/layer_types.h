#pragma once

#include <vector>

#include "src/model/config_fields.h"
#include "src/model/model_config.h"

namespace layerscope::model {

/// One planned layer a decoder layer: base, HASH, and DENSE or MOE where the model has experts
/// (attention_types.h, expert_layers.h). Empty when the config holds a mistake (`fields.status()`).
std::vector<PlannedLayer> PlanLayers(ConfigFields& fields);

}  // namespace layerscope::model

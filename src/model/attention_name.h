#pragma once

#include <string>

#include "src/model/model_config.h"

namespace layerscope::model {

/// ModelConfig::attention from its other members.
std::string AttentionName(const ModelConfig& config);

}  // namespace layerscope::model

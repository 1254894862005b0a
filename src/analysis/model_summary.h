#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/model/model_config.h"
#include "src/table/value.h"

namespace layerscope::analysis {

/// `data.model` of `profiles infer`: every number of the config by its name in the config, null
/// where the file does not say it.
table::Object ModelToObject(const model::ModelConfig& config);

/// The same for people, label and text; what the file does not say is left out.
std::vector<std::pair<std::string, std::string>> ModelFacts(const model::ModelConfig& config);

/// How many layers of the config have one type.
struct PlannedType {
  std::string type;
  int64_t n = 0;
  std::string layers;  ///< "0-2, 5"; "0, 2, … 34" for steps
};

/// The distribution of layer types, by first appearance.
std::vector<PlannedType> PlannedTypes(const model::ModelConfig& config);

}  // namespace layerscope::analysis

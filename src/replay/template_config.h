#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/layers/layer_structure.h"
#include "src/model/model_config.h"
#include "src/trace/trace.h"

namespace layerscope::replay {

inline constexpr uint32_t kNoTemplatePath = static_cast<uint32_t>(-1);

/// The module paths that a config implies for the rows of the layers that were found, of head and
/// tail too where one kernel stands for the embedding, the final norm, the output projection.
struct ConfigTemplate {
  std::vector<std::string> paths;
  std::vector<uint32_t> path_of_row;  ///< by row; kNoTemplatePath: not explained
  std::vector<double> confidence;     ///< by pass: of its layers, times the share that fits
  std::string reason;                 ///< why nothing is explained; one clause; empty: something is
};

/// Layers must have been found with high confidence and in the config's number, and of a pass's
/// layers kEnoughAligned must show every module that the config demands, in order.
ConfigTemplate LayConfig(const trace::Trace& trace, const layers::LayerStructure& structure,
                         const model::ModelConfig& config);

}  // namespace layerscope::replay

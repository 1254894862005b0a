#pragma once

#include <string>
#include <vector>

#include "src/layers/pass_placement.h"
#include "src/model/model_config.h"

namespace layerscope::layers {

/// Whole passes whose expert kernels contradict the config, although it has as many layers.
struct ExpertMismatch {
  std::vector<size_t> passes;  ///< index into the passes
  std::string why;             ///< of the first one; empty when there is none
};

/// Compares the layers that the config calls MOE with those that run routing or expert kernels.
/// Only layers in which an FFN kernel was recognised count, and only where most of them differ: a
/// single layer may hide its experts behind a name that nobody knows.
ExpertMismatch FindExpertMismatch(const std::vector<PlacedPass>& passes,
                                  const model::ModelConfig& config);

}  // namespace layerscope::layers

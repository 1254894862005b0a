#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/layers/layer_structure.h"
#include "src/trace/trace.h"

namespace layerscope::layers {

/// Compares the layers found in kernels with nn.Module scopes: the class nearest to the root of
/// which each pass calls as many instances as it has layers. A layer agrees when the kernels
/// launched one by one that are its own are exactly those of one call of that class, the helpers
/// before an anchor set aside (`is_helper`, by StringId index: AnchorChoice). Passes that are whole
/// and not a graph's take part; absent when there are none or no such class.
std::optional<ModuleAgreement> CompareWithModules(const trace::Trace& trace,
                                                  const attribution::Attribution& attribution,
                                                  const std::vector<uint8_t>& is_helper,
                                                  const LayerStructure& structure);

}  // namespace layerscope::layers

#pragma once

#include "src/document/map/layers.h"

namespace layerscope::document {

/// The layer parts from the layers that were found in the order of kernels: of a graph replay whose
/// modules are not known, or a trace without module scopes. Ops are kernels. Sums are over all
/// passes of the target model.
LayerParts WriteFoundLayers(const Execution& execution);

}  // namespace layerscope::document

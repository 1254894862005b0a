#pragma once

#include <cstdint>
#include <vector>

#include "src/layers/pass_placement.h"

namespace layerscope::layers {

struct Residue {
  size_t pass = 0;        ///< index into the passes
  int64_t n_anchors = 0;  ///< more (or fewer) than its like have
};

/// What one whole pass has of anchors beyond its layers, its like have too (a final norm, an output
/// aggregation). Says which passes do not, where most passes agree and one of its phase does.
std::vector<Residue> FindResidues(const std::vector<PlacedPass>& passes);

}  // namespace layerscope::layers

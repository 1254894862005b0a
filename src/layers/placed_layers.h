#pragma once

#include <cstdint>

#include "src/layers/pass_placement.h"
#include "src/layers/segmentation.h"

namespace layerscope::layers {

/// Gives a pass the layers of `cut`, numbered from `first_index`; a cut first one stands before
/// that.
void TakeLayers(const Segmentation& cut, int32_t first_index, PlacedPass& pass);

/// Gives a pass the layers of `whole` that lie in its tokens [from, to), moved to begin at `from`.
void TakeWindow(const PlacedPass& whole, uint32_t from, uint32_t to, PlacedPass& pass);

}  // namespace layerscope::layers

#pragma once

#include <string>

#include "src/layers/anchored_pass.h"

namespace layerscope::layers {

/// Cuts at the anchors as they stand, whatever repetition shows: as many a layer as the hints say.
/// `misfit`: how they miss the layers that repetition finds; empty: they do not.
Segmentation CutAtAnchors(const AnchoredPass& pass, const std::string& misfit);

}  // namespace layerscope::layers

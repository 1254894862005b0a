#pragma once

#include <vector>

#include "src/layers/pass_placement.h"

namespace layerscope::layers {

/// Marks as cut the outer layers of a pass at the window's edge that lack kernels of their like
/// there (formats/profiles.md, "Rules": a cut layer is flagged CUT). A layer at the very beginning
/// of a pass that began before the window is the end of a longer one of its like; one at the very
/// end of a pass that the window cuts is the beginning of a longer one. Its like are the layer of
/// the same index in `references` first, then the other layers of the pass.
void MarkCutLayers(const std::vector<const PlacedPass*>& references, PlacedPass& pass);

}  // namespace layerscope::layers

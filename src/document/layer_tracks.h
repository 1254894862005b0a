#pragma once

#include <vector>

#include "src/analysis/rank_view.h"
#include "src/document/track.h"
#include "src/layers/layer_structure.h"

namespace layerscope::document {

/// Keys of layer-level runs that are no layer.
inline constexpr uint32_t kHeadKey = 0xFFFFFFFE;
inline constexpr uint32_t kTailKey = 0xFFFFFFFD;

/// Passes, layers (with head and tail of a pass) and blocks of every GPU stream, one track a level.
/// Keys: index into LayerStructure::passes; index into ::layers, kHeadKey or kTailKey; block
/// number. A run of layers or blocks holds only their own activities: it ends where a foreign one,
/// or one of no pass, starts on the stream; a pass goes on around it. A level without a run gives
/// no track. Of the selected activities alone.
std::vector<Track> LayerTracks(const analysis::RankView& view,
                               const layers::LayerStructure& layers);

}  // namespace layerscope::document

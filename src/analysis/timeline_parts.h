#pragma once

#include <cstdint>
#include <vector>

#include "src/analysis/interval_union.h"
#include "src/analysis/rank_view.h"
#include "src/layers/layer_structure.h"

namespace layerscope::analysis {

/// Where a pass, a layer or a block lies in time, by the selected activities that it has.
struct PartSpan {
  TimeSpan span;
  uint32_t longest_row = 0;  ///< its longest activity: evidence and the like are told by it
};

/// A block of a layer.
struct BlockSpan : PartSpan {
  layers::LayerId layer;
  uint8_t block = 0;
};

/// Passes and layers as LayerStructure has them (the span is empty where nothing selected ran), and
/// the blocks that have activities.
struct TimelineParts {
  std::vector<PartSpan> passes;
  std::vector<PartSpan> layers;
  std::vector<BlockSpan> blocks;
};

/// One sweep over the view's rows, in any order. Foreign activities are in none.
TimelineParts SpanParts(const RankView& view, const layers::LayerStructure& structure);

}  // namespace layerscope::analysis

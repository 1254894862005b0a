#include "src/layers/placed_layers.h"

#include <algorithm>
#include <utility>

namespace layerscope::layers {

namespace {

void TakeFacts(const Segmentation& cut, PlacedPass& pass) {
  pass.confidence = cut.confidence;
  pass.kind = cut.kind;
  pass.anchors_per_layer = cut.anchors_per_layer;
}

}  // namespace

void TakeLayers(const Segmentation& cut, int32_t first_index, PlacedPass& pass) {
  pass.layers.clear();
  if (cut.cut_first && cut.begin.front() > 0) {
    pass.layers.push_back({0, cut.begin.front(), first_index - 1, true, {}});
  }
  for (size_t i = 0; i < cut.begin.size(); ++i) {
    const bool last = i + 1 == cut.begin.size();
    PlacedLayer layer;
    layer.begin = cut.begin[i];
    layer.end = last ? cut.end : cut.begin[i + 1];
    layer.index = first_index + static_cast<int32_t>(i);
    layer.cut = last && cut.cut_last;
    if (i < cut.block_begin.size()) layer.block_begin = cut.block_begin[i];
    pass.layers.push_back(std::move(layer));
  }
  TakeFacts(cut, pass);
  pass.abstained = {};
}

void TakeWindow(const PlacedPass& whole, uint32_t from, uint32_t to, PlacedPass& pass) {
  for (const PlacedLayer& source : whole.layers) {
    if (source.end <= from || source.begin >= to) continue;
    PlacedLayer layer;
    layer.begin = std::max(source.begin, from) - from;
    layer.end = std::min(source.end, to) - from;
    layer.index = source.index;
    layer.cut = source.begin < from || source.end > to;
    for (const uint32_t begin : source.block_begin) {
      if (begin >= from && begin < to) layer.block_begin.push_back(begin - from);
    }
    pass.layers.push_back(std::move(layer));
  }
  pass.confidence = whole.confidence;
  pass.kind = whole.kind;
  pass.anchors_per_layer = whole.anchors_per_layer;
}

}  // namespace layerscope::layers

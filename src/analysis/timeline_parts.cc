#include "src/analysis/timeline_parts.h"

#include <tsl/robin_map.h>

#include "src/base/hash.h"

namespace layerscope::analysis {
namespace {

void AddRow(const trace::Activities& activities, uint32_t row, PartSpan& part) {
  const std::vector<int64_t>& dur_ns = activities.dur_ns;
  if (part.span.empty() || dur_ns[row] > dur_ns[part.longest_row]) part.longest_row = row;
  part.span.Add(activities.start_ns[row], dur_ns[row]);
}

}  // namespace

TimelineParts SpanParts(const RankView& view, const layers::LayerStructure& structure) {
  const trace::Activities& activities = view.activities();
  TimelineParts parts;
  parts.passes.resize(structure.passes.size());
  parts.layers.resize(structure.layers.size());
  tsl::robin_map<uint64_t, size_t, base::MixHash> index;
  for (const uint32_t row : view.rows()) {
    const layers::PassId pass = structure.pass[row];
    if (!pass.valid()) continue;
    AddRow(activities, row, parts.passes[pass.index()]);
    const layers::LayerId layer = structure.layer[row];
    if (!layer.valid()) continue;
    AddRow(activities, row, parts.layers[layer.index()]);
    const uint8_t block = structure.block[row];
    if (block == layers::kNoBlock) continue;
    const uint64_t key = (uint64_t{layer.index()} << 8U) | block;
    const auto [found, is_new] = index.try_emplace(key, parts.blocks.size());
    if (is_new) {
      parts.blocks.emplace_back();
      parts.blocks.back().layer = layer;
      parts.blocks.back().block = block;
    }
    AddRow(activities, row, parts.blocks[found->second]);
  }
  return parts;
}

}  // namespace layerscope::analysis

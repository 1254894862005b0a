#include "src/layers/steady_state.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "src/base/checked_sum.h"

namespace layerscope::layers {
namespace {

struct Extent {
  int64_t begin_ns = std::numeric_limits<int64_t>::max();
  int64_t end_ns = std::numeric_limits<int64_t>::min();
};

/// |a - b| <= 5 % of the larger one.
bool IsSteady(int64_t a_ns, int64_t b_ns) {
  const int64_t larger = std::max(a_ns, b_ns);
  const int64_t smaller = std::min(a_ns, b_ns);
  return larger - smaller <= larger / 20;
}

/// Wall time of layer 0 by pass: from the first start to the last end of its own rows.
std::vector<int64_t> FirstLayerWalls(const trace::Activities& rows,
                                     const LayerStructure& structure) {
  std::vector<Extent> extents(structure.passes.size());
  for (size_t row = 0; row < structure.layer.size(); ++row) {
    const LayerId id = structure.layer[row];
    if (!id.valid() || structure.part[row] != PassPart::kLayer) continue;
    const Layer& layer = structure.layers[id.index()];
    if (layer.index != 0) continue;
    Extent& extent = extents[layer.pass.index()];
    extent.begin_ns = std::min(extent.begin_ns, rows.start_ns[row]);
    extent.end_ns = std::max(extent.end_ns, base::AddClamped(rows.start_ns[row], rows.dur_ns[row]));
  }
  std::vector<int64_t> walls;
  for (const Extent& extent : extents) {
    walls.push_back(extent.end_ns > extent.begin_ns ? extent.end_ns - extent.begin_ns : 0);
  }
  return walls;
}

}  // namespace

std::optional<size_t> FindSteadyPass(const trace::Activities& rows,
                                     const LayerStructure& structure) {
  const std::vector<int64_t> wall_ns = FirstLayerWalls(rows, structure);
  std::map<std::pair<PassKind, std::optional<int64_t>>, std::vector<size_t>> groups;
  for (size_t i = 0; i < structure.passes.size(); ++i) {
    const Pass& pass = structure.passes[i];
    if (!pass.complete || pass.kind == PassKind::kCapture || pass.kind == PassKind::kDraft)
      continue;
    groups[{pass.kind, pass.batch}].push_back(i);
  }
  std::optional<size_t> steady;
  for (const auto& [key, passes] : groups) {
    for (size_t i = 0; i + 2 < passes.size(); ++i) {
      if (!IsSteady(wall_ns[passes[i]], wall_ns[passes[i + 1]]) ||
          !IsSteady(wall_ns[passes[i + 1]], wall_ns[passes[i + 2]])) {
        continue;
      }
      if (!steady || passes[i] < *steady) steady = passes[i];
      break;
    }
  }
  return steady;
}

}  // namespace layerscope::layers

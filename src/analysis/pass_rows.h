#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/analysis/layer_sums.h"
#include "src/analysis/place.h"
#include "src/analysis/rank_view.h"
#include "src/analysis/selection.h"
#include "src/layers/layer_structure.h"

namespace layerscope::analysis {

/// Decimals of a time in seconds that is exact to the nanosecond: what Perfetto's search takes.
inline constexpr int kSecondDigits = 9;

/// One forward through all layers, as `passes` shows it. The start and end of a capture
/// are those of its launch calls; other times are absent where nothing ran, those of layers also
/// where the layers are not known.
struct PassRow {
  int64_t index = 0;
  std::string kind;
  std::optional<int64_t> step;  ///< what --step selects; absent without annotation
  std::optional<int64_t> batch;
  bool ran = false;  ///< it has activities
  std::optional<int64_t> start_ns;
  std::optional<int64_t> end_ns;
  int64_t wall_ns = 0;
  int64_t busy_ns = 0;
  int64_t sum_ns = 0;
  int64_t n_kernels = 0;
  int64_t copy_ns = 0;
  int64_t n_copies = 0;
  int64_t graph_ns = 0;  ///< graphs recorded without their kernels
  int64_t n_graphs = 0;
  int64_t n_captured_launches = 0;
  int64_t n_layers = 0;                   ///< whole ones
  std::optional<int64_t> avg_layer_ns;    ///< mean wall of its whole layers
  std::optional<int64_t> first_layer_ns;  ///< wall of layer 0
  bool complete = false;
  double confidence = 0;
  std::string state;  ///< "cold", "steady", "slower", "partial" or empty
  bool slower() const { return state == "slower"; }
  std::string detail;   ///< what the structure says: "micro-batch 1 of 2"
  std::string note;     ///< both, "; " between
  std::string start_s;  ///< decimal seconds; empty where it did not run
  std::string end_s;
  Place place;
};

/// The passes that have selected activities, and captures unless the selection rules them out.
std::vector<PassRow> BuildPassRows(const RankView& view, const layers::LayerStructure& structure,
                                   const StructureSums& sums, const Selection& selection);

/// Wall time of a layer that is whole and ran; absent else.
std::optional<int64_t> WholeWall(const layers::Layer& layer, const LayerSums& sums);

}  // namespace layerscope::analysis

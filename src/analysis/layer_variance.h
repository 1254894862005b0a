#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/layers.h"
#include "src/analysis/rank_view.h"
#include "src/base/result.h"
#include "src/layers/layer_structure.h"

namespace layerscope::analysis {

/// One layer's wall time over passes.
struct LayerVariance {
  int64_t layer = 0;
  std::string_view type;
  std::vector<std::optional<int64_t>> by_pass;  ///< absent where the pass lacks the layer
  int64_t n = 0;
  int64_t mean_ns = 0;
  int64_t median_ns = 0;  ///< the lower of the two in the middle
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  int64_t stddev_ns = 0;  ///< of the population
  bool outlier = false;
};

/// Fills mean, median, min, max and stddev of every row, and marks outliers: rows whose median lies
/// both more than 5 % and more than 3.5 scaled median deviations from the median of their type
/// (modified z-score, Iglewicz and Hoaglin 1993), where the type has at least four layers. Medians,
/// for a cold pass says nothing of a layer.
void SummarizeVariance(std::vector<LayerVariance>& rows);

/// `layers --all-passes`: over the whole passes of the phase of `options`, else of the steady pass,
/// else of the last whole pass. Abstains when no pass is whole.
base::Result<table::RankResult> ComputeLayerVariance(const RankView& view,
                                                     const layers::LayerStructure& structure,
                                                     const LayersOptions& options);

}  // namespace layerscope::analysis

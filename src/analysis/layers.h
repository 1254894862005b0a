#pragma once

#include "src/analysis/analysis.h"
#include "src/analysis/layer_choice.h"
#include "src/analysis/layer_clusters.h"
#include "src/analysis/layer_rows.h"
#include "src/analysis/selection.h"
#include "src/base/result.h"

namespace layerscope::analysis {

struct LayersOptions {
  /// `passes` (one) and `phase` choose the pass; with all_passes `phase` chooses the passes.
  Selection selection;
  Presentation presentation;
  bool all_passes = false;
};

/// `layers`: every layer of one pass with its times by category, layers by type, and what the pass
/// does before and after them; layers, head and tail add up to the pass. With all_passes: each
/// layer's wall time over the whole passes of one phase.
base::Result<Output> ComputeLayers(const AnalysisInput& input, const LayersOptions& options);

/// What `layers` and `report` show of one pass.
struct PassLayers {
  ChosenPass pass;
  StructureSums sums;
  std::vector<LayerRow> rows;
  std::vector<Cluster> clusters;
  std::vector<std::string> groups;
  RankView view;  ///< the pass's activities alone
  const PassSums& of_pass() const { return sums.passes[pass.index]; }
};
/// Errors as ChoosePass.
base::Result<PassLayers> CollectPassLayers(const RankView& view, const Selection& selection);
/// The same where the view is summed already: `sums` of SumStructure(view, …).
base::Result<PassLayers> CollectPassLayers(const RankView& view, const Selection& selection,
                                           StructureSums sums);

/// Head, layers, tail and the pass itself: what adds up.
table::Table PartTable(const PassLayers& layers);
/// Facts for people: which pass is shown and why, how its layers were found, the profile.
table::Block PassBlock(const RankView& view, const PassLayers& layers);

}  // namespace layerscope::analysis

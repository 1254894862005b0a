#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/analysis/layers.h"
#include "src/analysis/pass_rows.h"
#include "src/analysis/rank_view.h"
#include "src/analysis/selection.h"
#include "src/table/result.h"
#include "src/table/value.h"

namespace layerscope::analysis {

/// What the page says of passes and layers: the passes, and one of them by layer type.
struct SummaryLayers {
  std::vector<PassRow> passes;
  PassLayers layers;
};

/// Absent where layers are not known, or the selection takes only a part of them.
std::optional<SummaryLayers> SummarizeLayers(const RankView& view, const Selection& selection);

/// `layers` of the page: {layers_per_pass, n_passes, steady_pass, pass, reason, anchor, passes,
/// clusters, bottleneck}.
table::Object LayersObject(const RankView& view, const SummaryLayers& summary);
/// At most three rows of passes and of layer types, and the bottleneck. `arguments`: what a command
/// on the same selection names (CommandArguments).
std::vector<table::Block> LayerBlocks(const RankView& view, const SummaryLayers& summary,
                                      const std::string& arguments);

/// True where layers are known of none of several ranks in the file, but may be of one.
bool LayersOfOneRank(const RankView& view);

/// True where a trace without known layers may be one of a model with layers.
bool MayHaveLayers(const RankView& view);

}  // namespace layerscope::analysis

#pragma once

#include "src/analysis/analysis.h"
#include "src/analysis/rank_view.h"
#include "src/model/parallel_layout.h"
#include "src/table/result.h"
#include "src/table/value.h"

namespace layerscope::analysis {

/// How the model is spread, with who says it: options first, then a world of one rank.
model::ParallelLayout LayoutOf(const AnalysisInput& input, const RankView& view);

/// {tp, pp, dp, ep}: each {size, source}, null where nothing says.
table::Object LayoutObject(const model::ParallelLayout& layout);
/// "TP 8 (--tp), PP/DP/EP unknown".
std::string LayoutText(const model::ParallelLayout& layout);

/// File, engine, config, GPU, ranks, parallel layout, time: the first point of the report.
table::Object TraceObject(const AnalysisInput& input, const RankView& view);
table::Block TraceBlock(const AnalysisInput& input, const RankView& view);

}  // namespace layerscope::analysis

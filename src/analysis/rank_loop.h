#pragma once

#include <utility>
#include <vector>

#include "src/analysis/analysis.h"
#include "src/analysis/coverage.h"
#include "src/analysis/selection.h"
#include "src/base/result.h"

namespace layerscope::analysis {

/// Runs `compute(const RankView&) -> base::Result<table::RankResult>` on every selected rank. A
/// trace whose times overflow abstains instead.
template <typename ComputeRank>
base::Result<Output> ForEachRank(const AnalysisInput& input, const Selection& selection,
                                 ComputeRank compute) {
  base::Result<std::vector<RankView>> views = Select(input, selection);
  if (!views.ok()) return std::move(views).error();
  Output output;
  for (const RankView& view : *views) {
    if (!view.times_fit()) {
      output.ranks.push_back(AbstainOnOverflow(view));
      continue;
    }
    base::Result<table::RankResult> rank = compute(view);
    if (!rank.ok()) return std::move(rank).error();
    output.ranks.push_back(*std::move(rank));
  }
  return output;
}

}  // namespace layerscope::analysis

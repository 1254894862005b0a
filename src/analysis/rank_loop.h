#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "src/analysis/analysis.h"
#include "src/analysis/coverage.h"
#include "src/analysis/selection.h"
#include "src/base/result.h"

namespace layerscope::analysis {

/// Runs `compute(const RankView&) -> base::Result<table::RankResult>` on every selected rank. A
/// trace whose times overflow abstains instead; a rank that does not have what was asked for
/// (kNotFound) drops out unless none has it. What people see starts with the selection, unless the
/// analysis looks at whole files whatever is selected.
template <typename ComputeRank>
base::Result<Output> ForEachRank(const AnalysisInput& input, const Selection& selection,
                                 ComputeRank compute, bool whole_files = false) {
  base::Result<std::vector<RankView>> views = Select(input, selection);
  if (!views.ok()) return std::move(views).error();
  Output output;
  std::optional<base::Error> not_found;
  for (const RankView& view : *views) {
    if (!view.times_fit()) {
      output.ranks.push_back(AbstainOnOverflow(view));
      continue;
    }
    base::Result<table::RankResult> rank = compute(view);
    if (!rank.ok() && rank.error().code == base::ErrorCode::kNotFound) {
      if (!not_found) not_found = std::move(rank).error();
      continue;
    }
    if (!rank.ok()) return std::move(rank).error();
    if (!whole_files && !selection.All() && !rank->blocks.empty()) {
      rank->blocks.insert(rank->blocks.begin(),
                          table::Block{.text = SelectionText(view, selection)});
    }
    output.ranks.push_back(*std::move(rank));
  }
  if (output.ranks.empty() && not_found) return *std::move(not_found);
  return output;
}

}  // namespace layerscope::analysis

#pragma once

#include <optional>

#include "src/analysis/analysis.h"
#include "src/analysis/rank_reduce.h"
#include "src/analysis/selection.h"
#include "src/base/result.h"

namespace layerscope::analysis {

struct OverheadOptions {
  Selection selection;  ///< rank, pid, device, steps, phase
  Presentation presentation;
  /// Over several ranks or processes also one row a step: `reduced`.
  std::optional<RankReduce> rank_reduce;
  bool per_rank = false;  ///< with rank_reduce, people also see each rank's table
};

/// `overhead`: where the wall time of each engine step goes, from the last completion of the steps
/// before to its own: lines that sum to it. Then medians by phase and number of requests, and the
/// worst steps. Over several files, and with rank_reduce, `reduced` is over all ranks. Abstains
/// without steps, without GPU work, and where no step's work is known.
base::Result<Output> ComputeOverhead(const AnalysisInput& input, const OverheadOptions& options);

}  // namespace layerscope::analysis

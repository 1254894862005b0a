#pragma once

#include <optional>

#include "src/analysis/analysis.h"
#include "src/analysis/selection.h"
#include "src/analysis/step_reduce.h"
#include "src/base/result.h"

namespace layerscope::analysis {

struct StepsOptions {
  Selection selection;
  Presentation presentation;
  bool by_module = false;  ///< --by module: one row a step and module
  /// Over several ranks or processes also one row a step: `reduced`.
  std::optional<RankReduce> rank_reduce;
  /// With rank_reduce, or of a run of several recordings, people also see each rank's table.
  bool per_rank = false;
};

/// `steps`: engine steps with phase, batch and tokens, wall, busy, idle and sum of what they
/// launched; what no step launched is `outside`. With by_module, a step's time split over modules.
/// Of several recordings of one run (RankInput::recording) `reduced` is the sweep over all of them.
base::Result<Output> ComputeSteps(const AnalysisInput& input, const StepsOptions& options);

}  // namespace layerscope::analysis

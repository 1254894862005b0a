#pragma once

#include "src/analysis/analysis.h"
#include "src/analysis/selection.h"
#include "src/base/result.h"

namespace layerscope::analysis {

struct OverheadOptions {
  Selection selection;  ///< rank, pid, device, steps, phase
  Presentation presentation;
};

/// `overhead`: where the wall time of each engine step goes, from the last completion of the steps
/// before to its own: lines that sum to it. Then medians by phase and number of requests, and the
/// worst steps. Abstains without steps, without GPU work, and where no step's work is known.
base::Result<Output> ComputeOverhead(const AnalysisInput& input, const OverheadOptions& options);

}  // namespace layerscope::analysis

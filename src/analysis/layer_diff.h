#pragma once

#include "src/analysis/analysis.h"
#include "src/analysis/kernels.h"
#include "src/base/result.h"

namespace layerscope::analysis {

/// `kernels --layer N --compare-layer M`: both layers of one pass, and their kernels by name: only
/// in the one, only in the other, in both with their times. kUsage unless the selection names one
/// layer and at most one pass.
base::Result<Output> CompareLayers(const AnalysisInput& input, const KernelsOptions& options);

}  // namespace layerscope::analysis

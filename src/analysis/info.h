#pragma once

#include "src/analysis/analysis.h"
#include "src/analysis/selection.h"
#include "src/base/result.h"

namespace layerscope::analysis {

struct InfoOptions {
  Selection selection;  ///< only `rank` has a meaning: the other figures are of whole files
  Presentation presentation;
};

/// `info`: what is in the file and whether it can be trusted. Counts and devices are of the GPU,
/// also in a CPU-only trace.
base::Result<Output> ComputeInfo(const AnalysisInput& input, const InfoOptions& options);

}  // namespace layerscope::analysis

#pragma once

#include "src/analysis/analysis.h"
#include "src/analysis/selection.h"
#include "src/base/result.h"

namespace layerscope::analysis {

struct ReportOptions {
  Selection selection;  ///< `passes` (one) and `phase` choose the pass
  Presentation presentation;
};

/// `report`: the written report. 1 trace, 2 model, 3 passes, 4 the chosen pass, 5 its layers, 6
/// layers by type, 7 compute flow of a representative layer a type, 8 ranges for Perfetto, 9 the
/// bottleneck. Without passes 4 is the time by module and what follows that by kernel, or by op of
/// a CPU-only trace. What is not known is said.
base::Result<Output> ComputeReport(const AnalysisInput& input, const ReportOptions& options);

}  // namespace layerscope::analysis

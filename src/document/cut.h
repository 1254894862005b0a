#pragma once

#include "src/analysis/analysis.h"
#include "src/analysis/selection.h"
#include "src/base/result.h"
#include "src/document/trace_document.h"

namespace layerscope::document {

/// `cut`: the events of a rank's trace that belong to a selection (cut_plan.h). `input` holds that
/// rank alone. `data`: `selection`{`gpu_ns`, `n_activities`, `n_steps`}, and once the copy is made
/// `kept`[{`class`, `n_input`, `n_kept`}]. kUsage without a
/// selection, kNotFound for one that holds nothing.
base::Result<TraceDocument> BuildCut(const analysis::AnalysisInput& input,
                                     const analysis::Selection& selection);

}  // namespace layerscope::document

#pragma once

#include "src/analysis/analysis.h"
#include "src/base/result.h"
#include "src/document/json_document.h"
#include "src/document/workload/input.h"

namespace layerscope::document {

/// workload_data.json (formats/outputs.md; docs/workload.md has the rules) of `choice`, which may
/// be another than the input's. `traces` may be empty; its config names the model. The document
/// owns its data.
JsonDocument BuildWorkloadData(const WorkloadInput& input, const WorkloadChoice& choice,
                               const analysis::AnalysisInput& traces);

}  // namespace layerscope::document

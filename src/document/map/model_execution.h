#pragma once

#include "src/analysis/analysis.h"
#include "src/analysis/selection.h"
#include "src/base/result.h"
#include "src/document/json_document.h"

namespace layerscope::document {

struct MapOptions {
  analysis::Selection selection;
  bool collapse = true;  ///< like layers shown as one, with each layer's values
};

/// `map`: model_execution.json (formats/outputs.md, docs/documents.md), the module tree with ops,
/// kernels and layers over all forwards. The tree is that of the first selected rank; figures of
/// the other ranks stand beside it, aligned by module path. kInvalidInput for times that overflow,
/// kNotFound and kUsage as Select.
base::Result<JsonDocument> BuildModelExecution(const analysis::AnalysisInput& input,
                                               const MapOptions& options);

}  // namespace layerscope::document

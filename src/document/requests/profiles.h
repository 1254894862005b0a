#pragma once

#include "src/analysis/analysis.h"
#include "src/base/result.h"
#include "src/document/json_document.h"
#include "src/document/requests/list.h"

namespace layerscope::document {

/// `requests`: per_request_profiles.json (formats/outputs.md, docs/documents.md): what each request
/// spent in each module, phase and layer, aligned over requests. `input` holds one trace a request,
/// each on its own clock. Traces whose times overflow are left out with an error-level entry;
/// kInvalidInput when none is left.
base::Result<JsonDocument> BuildRequestProfiles(const analysis::AnalysisInput& input,
                                                const RequestList& list);

}  // namespace layerscope::document

#pragma once

#include "src/analysis/analysis.h"
#include "src/base/result.h"
#include "src/document/trace_document.h"

namespace layerscope::document {

struct AnnotateOptions {
  bool modules = true;  ///< also tracks of modules
};

/// `annotate`: every event of a rank's trace, then tracks of passes, layers, blocks and modules
/// beside the GPU streams (docs/documents.md). `input` holds that rank alone. `data`: `tracks`[{
/// `kind`, `pid`, `device`, `stream`, `n_slices`}]. Where layers are withheld, the tracks that are
/// known are added and the result abstains. kFailed when layers could not be sought; a database is
/// written all the same, with tracks of modules.
base::Result<TraceDocument> BuildAnnotation(const analysis::AnalysisInput& input,
                                            const AnnotateOptions& options);

}  // namespace layerscope::document

#pragma once

#include "src/analysis/analysis.h"
#include "src/analysis/selection.h"
#include "src/base/result.h"
#include "src/document/trace_document.h"

namespace layerscope::document {

struct AnnotateOptions {
  bool modules = true;  ///< also tracks of modules
  /// --rank and --pid choose processes: what belongs to others is left out. --device and --stream
  /// choose the streams that get tracks.
  analysis::Selection selection{};
};

/// `annotate`: every event of a rank's trace, then tracks of passes, layers, blocks and modules
/// beside the GPU streams (docs/documents.md). `input` holds that file alone. `data`: `tracks`[{
/// `kind`, `rank`, `pid`, `device`, `stream`, `n_slices`}]. Where layers are withheld, the tracks
/// that are known are added and the result abstains. kFailed when layers could not be sought; a
/// database is written all the same, with tracks of modules.
base::Result<TraceDocument> BuildAnnotation(const analysis::AnalysisInput& input,
                                            const AnnotateOptions& options);

}  // namespace layerscope::document

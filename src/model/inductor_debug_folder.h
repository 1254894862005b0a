#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"

namespace layerscope::model {

/// The file names of a TORCH_COMPILE_DEBUG folder.
inline constexpr std::string_view kProvenanceMapName =
    "inductor_provenance_tracking_node_mappings.json";
inline constexpr std::string_view kOutputCodeName = "output_code.py";
inline constexpr std::string_view kLoweredGraphName = "fx_graph_transformed.py";
inline constexpr std::string_view kTracedGraphName = "fx_graph_readable.py";

/// What of a TORCH_COMPILE_DEBUG folder is read.
struct InductorDebugFolder {
  /// Folders with a provenance map or generated code, in the order of their graphs: by run, then by
  /// the number at the end of "model__0_inference_0.12".
  std::vector<std::string> graphs;
  std::vector<std::string> logs;  ///< tlparse/dedicated_log_torch_trace_*.log
};

/// Looks through `path` and the folders below it, to a bounded depth and number. kInvalidInput when
/// it is no folder or cannot be read.
base::Result<InductorDebugFolder> FindInductorDebugFolder(const std::string& path);

}  // namespace layerscope::model

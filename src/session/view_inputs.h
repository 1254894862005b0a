#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/base/result.h"

namespace layerscope::session {

/// What the inputs of `view` and of the HTML report are, each told by its content.
struct ViewInputs {
  std::vector<std::string> ranks;     ///< traces, databases and directories of one run
  std::vector<std::string> requests;  ///< traces of one request each, and directories of them
  std::vector<std::string> workload;  ///< benchmark results and Prometheus dumps
  /// Finished documents: name ("map", "requests", "workload") and file.
  std::vector<std::pair<std::string, std::string>> documents;
};

/// A directory that holds benchmark results and dumps and no trace stands for those files, and for
/// the traces of its one folder that has some; one of traces is one of requests when it holds
/// request_metadata.json, or several traces of which none says its rank in its name. A file that is
/// nothing known stands among `ranks`: their reader refuses it by what it is. kUsage without
/// inputs, for ranks beside requests, and for two documents of one name.
base::Result<ViewInputs> SortViewInputs(const std::vector<std::string>& inputs);

/// The document that a JSON text is, by its first keys: "map" (model_execution.json), "requests"
/// (per_request_profiles.json), "workload" (workload_data.json); empty: none of them. `begin` may
/// be cut anywhere.
std::string DocumentNameOf(std::string_view begin);

}  // namespace layerscope::session

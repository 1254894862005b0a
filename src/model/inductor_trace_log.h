#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace layerscope::model {

/// A graph that dynamo traced, of a structured log (TORCH_TRACE, or tlparse/ of a
/// TORCH_COMPILE_DEBUG folder), which alone keeps the names of parameters.
struct TracedGraph {
  /// Nodes that read parameters or buffers of modules, and the paths of those.
  using Nodes = std::map<std::string, std::vector<std::string>, std::less<>>;

  std::shared_ptr<const Nodes> nodes;  ///< never null; graphs of one compilation share them
  /// The provenance map that Inductor logged for this graph; empty: none.
  std::string provenance_map;
};

/// The graphs that were lowered, in the log's order. Only their lines of the log are looked at.
std::vector<TracedGraph> ParseInductorTraceLog(std::string_view text);

}  // namespace layerscope::model

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"

namespace layerscope::model {

/// PyTorch's graph annotations of one process as our capture writes them,
/// `graph_annotations_rank<r>.json`: {graph node id: [dict]}, the `name` of a dict being the full
/// module path (formats/kineto.md, "Graph replay and capture").
struct GraphAnnotations {
  struct Node {
    int64_t id = 0;
    std::string path;  ///< of the last dict that has a name: inner scopes win
  };
  std::vector<Node> nodes;     ///< by id, each once; nodes without a name are left out
  int64_t n_unnamed = 0;       ///< entries without a usable name
  int64_t n_without_node = 0;  ///< entries whose number no node can have: negative, or too large

  /// Null: the node is not annotated.
  const Node* Find(int64_t id) const;
};

/// Reads the text of the file. `origin` names it in messages. kInvalidInput: no JSON object, keys
/// that are no whole numbers, another kind of file (a pickle is named as such and never read).
base::Result<GraphAnnotations> ParseGraphAnnotations(std::string_view text,
                                                     const std::string& origin);
base::Result<GraphAnnotations> LoadGraphAnnotations(const std::string& path);

}  // namespace layerscope::model

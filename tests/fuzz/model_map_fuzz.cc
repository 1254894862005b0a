// A model tree and a file of graph annotations of any bytes: refused, or whole.
#include <string_view>
#include <vector>

#include "src/base/check.h"
#include "src/model/graph_annotations.h"
#include "src/model/model_tree.h"

#include "tests/fuzz/target.h"

namespace model = layerscope::model;

namespace {

void ReadTree(std::string_view text) {
  const auto tree = model::ParseModelTree(text, "model_tree.json");
  if (!tree.ok()) {
    LS_CHECK(!tree.error().message.empty(), "a refusal says why");
    return;
  }
  LS_CHECK(!tree->modules.empty(), "a tree has modules");
  for (size_t i = 0; i < tree->modules.size(); ++i) {
    const model::ModelTree::Module& module = tree->modules[i];
    LS_CHECK(module.parent < static_cast<int32_t>(i), "parents stand first");
    LS_CHECK(tree->Find(module.path) == static_cast<int32_t>(i), "each path is one module");
  }
  std::vector<uint8_t> called(tree->modules.size(), 0);
  for (const uint32_t index : tree->call_order) {
    LS_CHECK(index < called.size() && called[index] == 0, "a first call is one");
    called[index] = 1;
  }
}

void ReadAnnotations(std::string_view text) {
  const auto annotations = model::ParseGraphAnnotations(text, "graph_annotations_rank0.json");
  if (!annotations.ok()) {
    LS_CHECK(!annotations.error().message.empty(), "a refusal says why");
    return;
  }
  for (const model::GraphAnnotations::Node& node : annotations->nodes) {
    LS_CHECK(annotations->Find(node.id) == &node && !node.path.empty(), "each node is found");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ReadTree(text);
  ReadAnnotations(text);
  return 0;
}

#include "src/analysis/workload_guess.h"

#include <gtest/gtest.h>

#include "src/analysis/module_shape.h"

namespace layerscope::analysis {
namespace {

/// A model whose layers are of these classes, in this order, each with one child of the class that
/// stands behind it. Every layer has 10 ns.
struct Layer {
  const char* class_name;
  const char* child;
};

std::string LayersOf(const std::vector<Layer>& layers, bool has_paths) {
  std::vector<ModuleNode> nodes(1);
  nodes[0].class_name = nodes[0].instance = nodes[0].path = "Model";
  for (size_t i = 0; i < layers.size(); ++i) {
    const auto add = [&](const std::string& path, const std::string& name, int64_t parent) {
      ModuleNode node;
      node.id = static_cast<int64_t>(nodes.size());
      node.parent = parent;
      node.depth = parent == 0 ? 2 : 3;
      node.class_name = name;
      node.instance = name + "_" + std::to_string(i);
      node.has_path = has_paths;
      node.path = has_paths ? path : nodes[static_cast<size_t>(parent)].path + "." + node.instance;
      node.calls = 1;
      node.gpu_incl_ns = 10;
      nodes.push_back(node);
      return node.id;
    };
    const std::string path = "model.layers." + std::to_string(i);
    add(path + ".mlp", layers[i].child, add(path, layers[i].class_name, 0));
  }
  return LayersText(CollapseRuns(nodes));
}

TEST(LayersText, CountsLayersThatAreNotAlike) {
  // One dense layer, then three with experts; and two kinds in turn, of which no two stand
  // together.
  for (const bool has_paths : {false, true}) {
    EXPECT_EQ(LayersOf({{"Layer", "Mlp"}, {"Layer", "Moe"}, {"Layer", "Moe"}, {"Layer", "Moe"}},
                       has_paths),
              "4 × Layer");
    EXPECT_EQ(LayersOf({{"Layer", "Mlp"}, {"Layer", "Mamba"}, {"Layer", "Mlp"}}, has_paths),
              "3 × Layer");
  }
}

TEST(LayersText, NamesTheClassesThatAreNumberedTogether) {
  const std::vector<Layer> layers = {
      {"MambaLayer", "Mamba"}, {"AttentionLayer", "Attention"}, {"MambaLayer", "Mamba"}};
  EXPECT_EQ(LayersOf(layers, true), "2 × MambaLayer + 1 × AttentionLayer");
  EXPECT_EQ(LayersOf(layers, false), "2 × MambaLayer") << "without paths nothing says so";
}

TEST(LayersText, IsEmptyWhereNothingRepeats) {
  EXPECT_EQ(LayersOf({{"Layer", "Mlp"}}, true), "");
}

}  // namespace
}  // namespace layerscope::analysis

#include "src/analysis/module_labels.h"

#include <gtest/gtest.h>

namespace layerscope::analysis {
namespace {

ModuleNode Node(int64_t parent, std::string instance, std::string class_name) {
  ModuleNode node;
  node.parent = parent;
  node.instance = std::move(instance);
  node.path = node.instance;
  node.class_name = std::move(class_name);
  return node;
}

ModuleNode AtPath(int64_t parent, std::string path, std::string instance, std::string class_name) {
  ModuleNode node = Node(parent, std::move(instance), std::move(class_name));
  node.path = std::move(path);
  node.has_path = true;
  return node;
}

TEST(ModuleLabels, AreThePartOfThePathBelowTheParent) {
  std::vector<ModuleNode> rows = {
      AtPath(-1, "", "Qwen3ForCausalLM_0", "Qwen3ForCausalLM"),
      AtPath(0, "model", "Qwen3Model_0", "Qwen3Model"),
      AtPath(1, "model.layers.0..3", "Qwen3DecoderLayer_0..3", "Qwen3DecoderLayer"),
      AtPath(2, "model.layers.0..3.self_attn.q_proj", "Linear_0..21 step 7", "Linear")};
  rows[2].repeat = 4;
  LabelRows(rows);
  EXPECT_EQ(rows[0].instance, "Qwen3ForCausalLM");
  EXPECT_EQ(rows[0].class_name, "");
  EXPECT_EQ(rows[1].instance, "model");
  EXPECT_EQ(rows[1].class_name, "Qwen3Model");
  EXPECT_EQ(rows[2].instance, "×4 layers.0..3");
  EXPECT_EQ(rows[2].class_name, "Qwen3DecoderLayer");
  EXPECT_EQ(rows[3].instance, "self_attn.q_proj");
  EXPECT_EQ(rows[3].class_name, "Linear");
}

TEST(ModuleLabels, StayTheInstanceWithoutAPath) {
  std::vector<ModuleNode> rows = {Node(-1, "Sampler_0", "Sampler")};
  LabelRows(rows);
  EXPECT_EQ(rows[0].instance, "Sampler_0");
  EXPECT_EQ(rows[0].class_name, "");
}

TEST(ModuleLabels, LeaveOutAClassThatIsOnlyThePathsLastPart) {
  std::vector<ModuleNode> rows = {AtPath(-1, "", "", ""),
                                  AtPath(0, "layers.0..35", "layers.0..35", "layers")};
  LabelRows(rows);
  EXPECT_EQ(rows[0].instance, kModelPath);
  EXPECT_EQ(rows[1].instance, "layers.0..35");
  EXPECT_EQ(rows[1].class_name, "");
}

TEST(ModuleLabels, AreTheWholePathWhereItLiesElsewhere) {
  std::vector<ModuleNode> rows = {
      AtPath(-1, "model.layers.0", "Layer_0", "Layer"),
      AtPath(0, "model.rotary_emb", "RotaryEmbedding_0", "RotaryEmbedding")};
  LabelRows(rows);
  EXPECT_EQ(rows[1].instance, "model.rotary_emb");
}

}  // namespace
}  // namespace layerscope::analysis

#include "src/analysis/module_range.h"

#include <gtest/gtest.h>

namespace layerscope::analysis {
namespace {

bool Matches(std::string_view text, const std::vector<std::string_view>& path) {
  const std::optional<ModuleRange> range = ModuleRange::Parse(text);
  return range && range->Matches([&path](size_t level) -> std::optional<std::string_view> {
    if (level >= path.size()) return std::nullopt;
    return path[path.size() - 1 - level];
  });
}

TEST(ModuleRange, NamesTellTheStride) {
  EXPECT_EQ(RangeName("Layer", {2, 0, 1, 1}), "Layer_0..2");
  EXPECT_EQ(RangeName("RMSNorm", {0, 4, 8}), "RMSNorm_0..8 step 4");
  EXPECT_EQ(RangeName("RMSNorm", {5, 1}), "RMSNorm_1, 5");
  EXPECT_EQ(RangeName("RMSNorm", {0, 1, 5}), "RMSNorm_0, …, 5");
  EXPECT_EQ(RangeName("Rope", {0, 0}), "Rope_0");
}

TEST(ModuleRange, MeansTheModulesOfTheRange) {
  EXPECT_TRUE(Matches("Layer_0..35", {"Model_0", "Layer_35"}));
  EXPECT_TRUE(Matches("×36 Layer_0..35", {"Model_0", "Layer_0"}));
  EXPECT_FALSE(Matches("Layer_0..35", {"Model_0", "Layer_36"}));
  EXPECT_FALSE(Matches("Layer_0..35", {"Model_0", "Norm_3"}));
  EXPECT_TRUE(Matches("RMSNorm_1..9 step 4", {"RMSNorm_5"}));
  EXPECT_FALSE(Matches("RMSNorm_1..9 step 4", {"RMSNorm_4"}));
  EXPECT_TRUE(Matches("RMSNorm_1, 5", {"RMSNorm_5"}));
  EXPECT_FALSE(Matches("RMSNorm_1, 5", {"RMSNorm_3"}));
}

TEST(ModuleRange, StandsInPaths) {
  EXPECT_TRUE(Matches("Model_0.Layer_0..3.MLP_0..3", {"Model_0", "Layer_2", "MLP_1"}));
  EXPECT_FALSE(Matches("Model_0.Layer_0..3.MLP_0..3", {"Model_0", "Draft_2", "MLP_1"}));
  EXPECT_FALSE(Matches("Model_0.Layer_0..3", {"Layer_2"}));
}

TEST(ModuleRange, PathsJoinTheirNumbers) {
  EXPECT_EQ(RangePath({"model.layers.0.mlp", "model.layers.2.mlp", "model.layers.1.mlp"}),
            "model.layers.0..2.mlp");
  EXPECT_EQ(RangePath({"layers.0.q", "layers.1.k"}), "layers.0..1.*");
  EXPECT_EQ(RangePath({"layers.1", "layers.5"}), "layers.1, 5");
  EXPECT_EQ(RangePath({"a.b"}), "a.b");
  EXPECT_EQ(RangePath({"a.b", "a"}), "");
}

TEST(ModuleRange, MeansTheEndsOfPaths) {
  const auto matches = [](std::string_view text, std::string_view path) {
    const std::optional<ModuleRange> range = ModuleRange::Parse(text);
    return range && range->MatchesPath(path);
  };
  EXPECT_TRUE(matches("model.layers.0..2.mlp", "model.layers.1.mlp"));
  EXPECT_TRUE(matches("layers.0..2", "model.layers.2"));
  EXPECT_FALSE(matches("layers.0..2", "model.layers.3"));
  EXPECT_FALSE(matches("layers.0..2", "model.layers.2.mlp"));
  EXPECT_FALSE(matches("model.layers.0..2", "layers.1"));
  EXPECT_TRUE(matches("layers.1, 5", "layers.5"));
  EXPECT_FALSE(matches("layers.1, 5", "layers.3"));
}

TEST(ModuleRange, OtherNamesAreNone) {
  EXPECT_FALSE(ModuleRange::Parse("Layer_0").has_value());
  EXPECT_FALSE(ModuleRange::Parse("model.layers.0.mlp").has_value());
  EXPECT_FALSE(ModuleRange::Parse("Layer_3..1").has_value());
  EXPECT_FALSE(ModuleRange::Parse("..").has_value());
  EXPECT_TRUE(ModuleRange::Parse("RMSNorm_0, …, 9")->irregular());
}

}  // namespace
}  // namespace layerscope::analysis

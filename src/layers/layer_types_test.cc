#include "src/layers/layer_types.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>
#include <vector>

namespace layerscope::layers {
namespace {

/// One whole pass whose layers run the kernels of one word each.
class TypedPass {
 public:
  explicit TypedPass(const std::vector<std::string_view>& layers, PassKind kind) {
    group_.kind = kind;
    pass_.kind = "repetition";
    pass_.complete = true;
    for (size_t i = 0; i < layers.size(); ++i) {
      const auto begin = static_cast<uint32_t>(group_.tokens.size());
      for (const char kernel : layers[i]) {
        Token token;
        token.name = static_cast<uint32_t>(kernel);
        group_.tokens.push_back(token);
      }
      pass_.layers.push_back(
          {begin, static_cast<uint32_t>(group_.tokens.size()), static_cast<int32_t>(i), false, {}});
    }
  }
  const PassGroup& group() const { return group_; }
  const PlacedPass& pass() const { return pass_; }

 private:
  PassGroup group_;
  PlacedPass pass_;
};

/// The types of the layers of all passes, in order, as one text.
std::string TypesOf(const std::vector<TypedPass>& typed, const model::ModelConfig* config = nullptr,
                    std::vector<table::HealthEntry>* warnings = nullptr) {
  std::vector<PlacedPass> passes;
  LayerStructure out;
  for (const TypedPass& one : typed) {
    passes.push_back(one.pass());
    passes.back().group = &one.group();
    const PassId id(out.passes.size());
    out.passes.emplace_back().kind = one.group().kind;
    for (const PlacedLayer& layer : one.pass().layers) {
      out.layers.emplace_back().pass = id;
      out.layers.back().index = layer.index;
    }
  }
  AssignTypes(config, passes, out);
  if (warnings != nullptr) *warnings = out.warnings;
  std::string text;
  for (const Layer& layer : out.layers) text += out.types[layer.type] + " ";
  return text;
}

TEST(AssignTypes, LettersFollowTheKernelSequences) {
  EXPECT_EQ(TypesOf({TypedPass({"nqao", "nqbo", "nqao", "nqbo"}, PassKind::kDecode)}), "A B A B ");
}

TEST(AssignTypes, LayerZeroJoinsWhatItIsMostLike) {
  EXPECT_EQ(TypesOf({TypedPass({"pqaomudx", "nqaomudx", "nqaomudx"}, PassKind::kDecode)}),
            "A A A ");
  EXPECT_EQ(TypesOf({TypedPass({"pqaodense", "nqaomoex", "nqaomoex"}, PassKind::kDecode)}),
            "A B B ")
      << "a dense first layer is a type of its own";
}

TEST(AssignTypes, OneLayerHasOneTypeInAllPasses) {
  EXPECT_EQ(TypesOf({TypedPass({"nqaom", "nqaom", "nqaom", "nqaom"}, PassKind::kPrefill),
                     TypedPass({"nqaom", "nqxyz", "nqaom", "nqxyz"}, PassKind::kDecode)}),
            "A B A B A B A B ");
}

TEST(AssignTypes, TakesTheConfigsTypesAndSaysWhereKernelsDiffer) {
  model::ModelConfig config;
  config.num_layers = 4;
  config.layers = {{"FULL", {}}, {"FULL", {}}, {"SWA", 4}, {"FULL", {}}};
  std::vector<table::HealthEntry> warnings;
  EXPECT_EQ(TypesOf({TypedPass({"nqaom", "nqaom", "nqsom", "xxxxx"}, PassKind::kDecode)}, &config,
                    &warnings),
            "FULL FULL SWA FULL ");
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].code, "layer_kernels_differ");
  EXPECT_NE(warnings[0].message.find("FULL (2 sequences)"), std::string::npos);
}

TEST(AssignTypes, DraftModelsHaveTypesOfTheirOwn) {
  EXPECT_EQ(TypesOf({TypedPass({"nqao", "nqao"}, PassKind::kTargetVerify),
                     TypedPass({"nqao"}, PassKind::kDraft)}),
            "A A B ");
}

}  // namespace
}  // namespace layerscope::layers

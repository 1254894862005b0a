#include "src/analysis/profiles.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "src/analysis/model_summary.h"

namespace layerscope::analysis {
namespace {

model::ModelConfig Config(const std::string& members) {
  base::Result<model::ModelConfig> config =
      model::ParseModelConfig("{" + members + "}", "dir/x--y_config.json");
  EXPECT_TRUE(config.ok()) << config.error().message;
  return config.ok() ? *config : model::ModelConfig();
}

const table::Value& At(const table::Object& object, std::string_view key) {
  for (const auto& [name, value] : object) {
    if (name == key) return value;
  }
  ADD_FAILURE() << "no key " << key;
  return object.front().second;
}

std::string TextAt(const table::Object& object, std::string_view key) {
  const auto* const text = std::get_if<std::string>(&At(object, key).variant());
  return text == nullptr ? "" : *text;
}

const table::Table& TableAt(const table::Object& object, std::string_view key) {
  return *std::get<std::shared_ptr<table::Table>>(At(object, key).variant());
}

std::string CellText(const table::Table& table, std::string_view column, size_t row) {
  const table::Cell cell = table.Find(column)->cell(row);
  if (const auto* const text = std::get_if<std::string_view>(&cell)) return std::string(*text);
  if (const auto* const number = std::get_if<int64_t>(&cell)) return std::to_string(*number);
  return "";
}

/// "layers: type" of the folded table that people see.
std::vector<std::string> ShownLayers(const table::RankResult& result) {
  const table::Table& table = result.blocks.back().table;
  std::vector<std::string> rows;
  for (size_t row = 0; row < table.n_rows; ++row) {
    rows.push_back(CellText(table, "layers", row) + ": " + CellText(table, "type", row));
  }
  return rows;
}

table::RankResult Infer(const model::ModelConfig& config) {
  return ComputeProfilesInfer(config, model::ChooseProfile(&config));
}

TEST(ProfilesInfer, HoldsWhatTheContractNames) {
  const table::RankResult result =
      Infer(Config(R"("model_type": "deepseek_v4", "num_hidden_layers": 3, "hidden_size": 8,
                      "compress_ratios": [0, 4, 128])"));
  EXPECT_EQ(TextAt(result.data, "profile"), "dsv4_csa_hca");
  EXPECT_EQ(TextAt(result.data, "why"), "model_type is deepseek_v4");
  EXPECT_EQ(std::get<int64_t>(At(result.data, "num_layers").variant()), 3);
  const table::Table& layers = TableAt(result.data, "layers");
  ASSERT_EQ(layers.n_rows, 3u);
  EXPECT_EQ(CellText(layers, "type", 1), "CSA_C4");
  EXPECT_EQ(CellText(layers, "ratio", 1), "4");
  const auto flags = [&](size_t row) {
    return std::get<table::CellList>(layers.Find("flags")->cell(row));
  };
  EXPECT_EQ(flags(0), table::CellList{"FIRST"});
  EXPECT_EQ(flags(1), table::CellList{});
  EXPECT_EQ(flags(2), table::CellList{"FINAL"});
  const auto& model = *std::get<std::shared_ptr<table::Object>>(At(result.data, "model").variant());
  EXPECT_EQ(TextAt(model, "name"), "x/y");
  EXPECT_EQ(std::get<int64_t>(At(model, "hidden_size").variant()), 8);
  EXPECT_TRUE(std::holds_alternative<table::Null>(At(model, "moe").variant()));
}

TEST(ProfilesInfer, TheOnlyLayerIsFirstAndFinal) {
  const table::RankResult result = Infer(Config(R"("n_layer": 1)"));
  EXPECT_EQ(std::get<table::CellList>(TableAt(result.data, "layers").Find("flags")->cell(0)),
            (table::CellList{"FIRST", "FINAL"}));
}

TEST(ProfilesInfer, PeopleSeeRunsAndCyclesFolded) {
  EXPECT_EQ(ShownLayers(Infer(Config(R"("num_hidden_layers": 5, "n_routed_experts": 4,
                                        "first_k_dense_replace": 2)"))),
            (std::vector<std::string>{"0-1: FULL+DENSE", "2-4: FULL+MOE"}));
  EXPECT_EQ(ShownLayers(Infer(Config(R"("num_hidden_layers": 13, "full_attention_interval": 4)"))),
            (std::vector<std::string>{"0-11: 3 x (3 LINEAR, FULL)", "12: LINEAR"}));
  // Twice is no cycle.
  EXPECT_EQ(ShownLayers(Infer(Config(R"("num_hidden_layers": 4, "full_attention_interval": 2)"))),
            (std::vector<std::string>{"0: LINEAR", "1: FULL", "2: LINEAR", "3: FULL"}));
}

TEST(PlannedTypes, ListLayersBrieflyByFirstAppearance) {
  const std::vector<PlannedType> types =
      PlannedTypes(Config(R"("num_hidden_layers": 16, "full_attention_interval": 4)"));
  ASSERT_EQ(types.size(), 2u);
  EXPECT_EQ(types[0].type, "LINEAR");
  EXPECT_EQ(types[0].n, 12);
  EXPECT_EQ(types[0].layers, "0-2, 4-6, … 12-14");
  EXPECT_EQ(types[1].layers, "3, 7, … 15");
}

TEST(ProfilesList, HasARowAProfile) {
  const table::RankResult result = ComputeProfilesList();
  EXPECT_EQ(TableAt(result.data, "rows").n_rows, model::BuiltInProfiles().size());
  EXPECT_EQ(result.main_table, "rows");
}

TEST(ProfilesShow, HoldsIdentitiesAndRules) {
  const model::Profile& profile = *model::FindBuiltInProfile("mla_dsa");
  const table::RankResult result = ComputeProfilesShow(profile);
  EXPECT_EQ(TableAt(result.data, "identities").n_rows, profile.identities.size());
  EXPECT_EQ(TableAt(result.data, "rules").n_rows, profile.rules.size());
}

TEST(ProfilesCheck, SaysThatTheFileIsValid) {
  const table::RankResult result =
      ComputeProfilesCheck(*model::FindBuiltInProfile("hy_v4"), "profiles/hy_v4.toml");
  EXPECT_TRUE(std::get<bool>(At(result.data, "valid").variant()));
  EXPECT_EQ(TextAt(result.data, "profile"), "hy_v4");
  EXPECT_EQ(result.input, "profiles/hy_v4.toml");
}

}  // namespace
}  // namespace layerscope::analysis

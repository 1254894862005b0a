#include <gtest/gtest.h>

#include <string>

#include "src/model/model_config.h"
#include "src/model/profile.h"

// The order of formats/profiles.md, "Identity, in this order".
namespace layerscope::model {
namespace {

ProfileChoice Choose(const std::string& members) {
  base::Result<ModelConfig> config =
      ParseModelConfig(R"({"num_hidden_layers": 1, )" + members + "}", "c.json");
  EXPECT_TRUE(config.ok()) << config.error().message;
  return config.ok() ? ChooseProfile(&*config) : ProfileChoice();
}

std::string Chosen(const std::string& members) {
  const ProfileChoice choice = Choose(members);
  return choice.profile == nullptr ? "" : choice.profile->name;
}

std::string OfType(const std::string& type) {
  return Chosen(R"("kv_lora_rank": 512, "model_type": ")" + type + "\"");
}

TEST(ChooseProfile, WithoutAConfigIsGeneric) {
  EXPECT_EQ(ChooseProfile(nullptr).profile->name, "generic");
  EXPECT_EQ(ChooseProfile(nullptr).why, "no config was given");
}

TEST(ChooseProfile, ModelTypesDecideBeforeKeys) {
  EXPECT_EQ(OfType("deepseek_v41"), "dsv41");
  EXPECT_EQ(OfType("deepseek_v41_text"), "dsv41");
  EXPECT_EQ(OfType("deepseek_v4"), "dsv4_csa_hca");
  EXPECT_EQ(OfType("kimi_k3"), "kimi_k3");
  EXPECT_EQ(OfType("glm5_next"), "glm5_next");
  EXPECT_EQ(OfType("glm5_next_text"), "glm5_next");
  EXPECT_EQ(OfType("hy_v4"), "hy_v4");
  EXPECT_EQ(OfType("qwen4_exp"), "qwen4_exp");
  EXPECT_EQ(OfType("qwen4_exp_text"), "qwen4_exp");
  EXPECT_EQ(OfType("nemotron_h"), "nemotron_h");
  for (const char* const type :
       {"gemma4", "gemma4_text", "gemma4_unified", "gemma4_unified_text"}) {
    EXPECT_EQ(OfType(type), "gemma4") << type;
  }
  EXPECT_EQ(OfType("glm_moe_dsa"), "mla_dsa");
  EXPECT_EQ(OfType("deepseek_v32"), "mla_dsa");
  EXPECT_EQ(OfType("deepseek_v3"), "dsv3_mla");
  EXPECT_EQ(OfType("dots3_note"), "generic_addnorm");
}

TEST(ChooseProfile, KeyValueSourceLayersGoBeforeEverything) {
  EXPECT_EQ(Chosen(R"("model_type": "deepseek_v4", "kv_source_layer_ids": [0])"), "dsv41");
}

TEST(ChooseProfile, KimiLinearNeedsAttentionResiduals) {
  EXPECT_EQ(Chosen(R"("model_type": "kimi_linear", "attn_res_block_size": 12,
                      "kv_lora_rank": 512)"),
            "kimi_k3");
  // Without them it is a hybrid, and no homogeneous MLA.
  EXPECT_EQ(Chosen(R"("model_type": "kimi_linear", "kv_lora_rank": 512,
                      "linear_attn_config": {"kda_layers": [1]})"),
            "generic_addnorm");
}

TEST(ChooseProfile, TheWrappersTypeCountsToo) {
  const ProfileChoice choice = Choose(R"("model_type": "kimi_k3", "text_config":
                                         {"model_type": "kimi_linear"})");
  EXPECT_EQ(choice.profile->name, "kimi_k3");
  EXPECT_EQ(choice.why, "the wrapper's model_type is kimi_k3");
}

TEST(ChooseProfile, ArchitecturesDecideWhereTheTypeIsAStranger) {
  const ProfileChoice choice =
      Choose(R"("model_type": "deepseek_ref", "architectures": ["DeepseekV4ForCausalLM"])");
  EXPECT_EQ(choice.profile->name, "dsv4_csa_hca");
  EXPECT_EQ(choice.why,
            "the architecture is DeepseekV4ForCausalLM; its model_type deepseek_ref is known to no "
            "profile");
  EXPECT_EQ(Chosen(R"("architectures": ["DeepseekV41ForConditionalGeneration"])"), "dsv41");
  EXPECT_EQ(Chosen(R"("architectures": ["HYV4ForCausalLM"], "kv_lora_rank": 512)"), "hy_v4");
  // A type that a profile names is no stranger.
  EXPECT_EQ(Chosen(R"("model_type": "nemotron_h", "architectures": ["DeepseekV4ForCausalLM"])"),
            "nemotron_h");
}

TEST(ChooseProfile, LongCatIsKnownByItsArchitecture) {
  EXPECT_EQ(Chosen(R"("model_type": "longcat", "kv_lora_rank": 512,
                      "architectures": ["LongcatFlashForCausalLM"])"),
            "longcat_flash");
}

TEST(ChooseProfile, KeysDecideInTheirOrder) {
  EXPECT_EQ(Chosen(R"("compress_ratios": [4], "index_topk": 8, "kv_lora_rank": 512)"),
            "dsv4_csa_hca");
  EXPECT_EQ(Chosen(R"("index_topk": 8, "kv_lora_rank": 512, "layer_types": ["full_attention"])"),
            "mla_dsa");
  EXPECT_EQ(Chosen(R"("layer_types": ["full_attention"], "kv_lora_rank": 512)"), "generic_addnorm");
  EXPECT_EQ(Chosen(R"("dots3_note": true, "kv_lora_rank": 512)"), "generic_addnorm");
  EXPECT_EQ(Chosen(R"("kv_lora_rank": 512)"), "dsv3_mla");
  EXPECT_EQ(Chosen(R"("kv_lora_rank": null)"), "generic_addnorm");
}

TEST(ChooseProfile, AnyLayerCountIsGenericAddNorm) {
  base::Result<ModelConfig> config = ParseModelConfig(R"({"n_layer": 12})", "c.json");
  ASSERT_TRUE(config.ok());
  const ProfileChoice choice = ChooseProfile(&*config);
  EXPECT_EQ(choice.profile->name, "generic_addnorm");
  EXPECT_EQ(choice.why, "the config has n_layer, and no family's own identity holds");
}

TEST(ChooseProfile, AConfigThatSaysNothingIsGeneric) {
  base::Result<ModelConfig> config = ParseModelConfig(R"({"model_type": "x"})", "c.json", 3);
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(ChooseProfile(&*config).profile->name, "generic");
}

}  // namespace
}  // namespace layerscope::model

#include "src/model/layer_types.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "src/model/model_config.h"

// Expected types are written down by hand from the published modelling code of each family
// (transformers, vLLM), not taken from this program.
namespace layerscope::model {
namespace {

/// The types of a config with these members, as one text; the message when it is refused.
std::string Types(const std::string& members) {
  base::Result<ModelConfig> config = ParseModelConfig("{" + members + "}", "c.json");
  if (!config.ok()) return config.error().message;
  std::string text;
  for (const PlannedLayer& layer : config->layers) text += (text.empty() ? "" : " ") + layer.type;
  return text;
}

TEST(LayerTypes, WithoutAPerLayerFieldAreFull) {
  EXPECT_EQ(Types(R"("num_hidden_layers": 2)"), "FULL FULL");
  EXPECT_EQ(Types(R"("n_layer": 2, "n_embd": 8)"), "FULL FULL");
  EXPECT_EQ(Types(R"("num_layers": 1)"), "FULL");
}

TEST(LayerTypes, CompressRatiosNameDeepSeekFourTypes) {
  EXPECT_EQ(Types(R"("num_hidden_layers": 4, "num_nextn_predict_layers": 1, "num_hash_layers": 2,
                     "n_routed_experts": 8, "compress_ratios": [128, 0, 4, 128, 0])"),
            "HCA_C128+HASH+MOE SWA_ONLY+HASH+MOE CSA_C4+MOE HCA_C128+MOE");
  EXPECT_EQ(Types(R"("num_hidden_layers": 3, "compress_ratios": [0, 2, 1])"),
            "SWA_ONLY V41_C2 V41_C1");
  EXPECT_EQ(Types(R"("num_hidden_layers": 1, "compress_ratios": [16])"), "C16");
}

TEST(LayerTypes, ListsOfAnotherLengthAreRefused) {
  EXPECT_EQ(Types(R"("num_hidden_layers": 3, "compress_ratios": [0, 4])"),
            "c.json: compress_ratios: has 2 entries, one a layer would be 3");
  EXPECT_EQ(Types(R"("num_hidden_layers": 2, "num_nextn_predict_layers": 1,
                     "layer_types": ["full_attention"])"),
            "c.json: layer_types: has 1 entries, one a layer would be 2 (or 3 with "
            "num_nextn_predict_layers)");
  EXPECT_EQ(Types(R"("num_hidden_layers": 2, "hybrid_override_pattern": "M*-")"),
            "c.json: hybrid_override_pattern: has 3 entries, one a layer would be 2");
  EXPECT_EQ(Types(R"("num_hidden_layers": 2, "num_experts": 4, "moe_layer_freq": [1, 1, 1])"),
            "c.json: moe_layer_freq: has 3 entries, one a layer would be 2");
}

TEST(LayerTypes, LayerTypesWordsAreRead) {
  EXPECT_EQ(Types(R"("num_hidden_layers": 6, "layer_types": ["full_attention", "sliding_attention",
                     "linear_attention", "chunked_attention", "mamba", "attention"])"),
            "FULL SWA LINEAR SWA LINEAR FULL");
  // LFM2, and a word that nobody knows.
  EXPECT_EQ(Types(R"("num_hidden_layers": 2, "layer_types": ["conv", "brand-new"])"),
            "CONV BRAND_NEW");
}

TEST(LayerTypes, SparseWordsAreDsaAndDeepSeekFourWordsItsTypes) {
  EXPECT_EQ(Types(R"("num_hidden_layers": 2, "index_topk": 4,
                     "layer_types": ["linear_attention", "deepseek_sparse_attention"])"),
            "LINEAR DSA");
  // Where the words name the sparse layers, a full layer stays full.
  EXPECT_EQ(Types(R"("num_hidden_layers": 2, "index_topk": 4,
                     "layer_types": ["full_attention", "sparse_attention"])"),
            "FULL DSA");
  EXPECT_EQ(Types(R"("num_hidden_layers": 3, "layer_types": ["sliding_attention",
                     "compressed_sparse_attention", "heavily_compressed_attention"])"),
            "SWA_ONLY CSA_C4 HCA_C128");
}

TEST(LayerTypes, AnIndexerWithoutRatiosIsDsa) {
  EXPECT_EQ(Types(R"("num_hidden_layers": 3, "index_topk": 2048, "n_routed_experts": 8,
                     "first_k_dense_replace": 1, "moe_layer_freq": 1)"),
            "DSA+DENSE DSA+MOE DSA+MOE");
  EXPECT_EQ(Types(R"("num_hidden_layers": 2, "sparse_attention_config":
                     {"sparse_attention_freq": [0, 1]})"),
            "FULL DSA");
}

TEST(LayerTypes, NemotronPatternIsOneBlockACharacter) {
  EXPECT_EQ(Types(R"("num_hidden_layers": 4, "n_routed_experts": 8,
                     "hybrid_override_pattern": "M*-E")"),
            "MAMBA ATTN MLP MOE");
  EXPECT_EQ(Types(R"("num_hidden_layers": 3, "n_routed_experts": 8,
                     "layers_block_type": ["mamba", "moe", "attention"])"),
            "MAMBA MOE ATTN");
  EXPECT_EQ(Types(R"("num_hidden_layers": 2, "hybrid_override_pattern": "MX")"),
            "c.json: hybrid_override_pattern: character 1 is none of M (Mamba), * (attention), - "
            "(MLP), E (experts)");
}

TEST(LayerTypes, LinearIdsCountFromOneOrZero) {
  // Kimi: the lists end at the layer count.
  EXPECT_EQ(Types(R"("num_hidden_layers": 4, "linear_attn_config":
                     {"kda_layers": [1, 2, 3], "full_attn_layers": [4]})"),
            "LINEAR LINEAR LINEAR FULL");
  // GLM-5 Next: 0 is there.
  EXPECT_EQ(Types(R"("num_hidden_layers": 4, "linear_attn_config":
                     {"kda_layers": [0, 1, 2], "full_attn_layers": [3]})"),
            "LINEAR LINEAR LINEAR FULL");
  // One list alone; the other layers are of the other kind.
  EXPECT_EQ(Types(R"("num_hidden_layers": 3, "linear_attn_config": {"full_attn_layers": [3]})"),
            "LINEAR LINEAR FULL");
  EXPECT_EQ(Types(R"("num_hidden_layers": 3, "linear_attn_config": {"kda_layers": [0, 1]})"),
            "LINEAR LINEAR FULL");
  // A shortened model: neither 0 nor the layer count is in the lists, the family decides.
  const std::string shortened = R"("num_hidden_layers": 2, "linear_attn_config":
                                   {"kda_layers": [1, 3], "full_attn_layers": [4]})";
  EXPECT_EQ(Types(R"("model_type": "kimi_linear", )" + shortened), "LINEAR FULL");
  EXPECT_EQ(Types(R"("model_type": "glm5_next_text", )" + shortened), "FULL LINEAR");
}

TEST(LayerTypes, PeriodsAndIdsOfHybrids) {
  // Qwen3-Next: every fourth layer is full.
  EXPECT_EQ(Types(R"("num_hidden_layers": 5, "full_attention_interval": 4)"),
            "LINEAR LINEAR LINEAR FULL LINEAR");
  // Jamba: attention where i mod 8 is 4; here 3 and 1. Experts where i mod 2 is 1.
  EXPECT_EQ(Types(R"("num_hidden_layers": 4, "attn_layer_period": 3, "attn_layer_offset": 1,
                     "num_experts": 16, "expert_layer_period": 2, "expert_layer_offset": 1)"),
            "LINEAR+DENSE FULL+MOE LINEAR+DENSE LINEAR+MOE");
  EXPECT_EQ(Types(R"("num_hidden_layers": 3, "attn_layer_indices": [1])"), "LINEAR FULL LINEAR");
  EXPECT_EQ(Types(R"("num_hidden_layers": 3, "full_attn_idxs": [2])"), "CONV CONV FULL");
  // MiniMax-01: 1 is softmax attention.
  EXPECT_EQ(Types(R"("num_hidden_layers": 3, "attn_type_list": [0, 0, 1])"), "LINEAR LINEAR FULL");
  // MiMo-V2: 1 is sliding.
  EXPECT_EQ(Types(R"("num_hidden_layers": 3, "hybrid_layer_pattern": [0, 1, 1],
                     "n_routed_experts": 4, "moe_layer_freq": [0, 1, 1])"),
            "FULL+DENSE SWA+MOE SWA+MOE");
  // RecurrentGemma repeats its pattern.
  EXPECT_EQ(Types(R"("num_hidden_layers": 4, "block_types": ["recurrent", "recurrent",
                     "attention"])"),
            "LINEAR LINEAR FULL LINEAR");
}

TEST(LayerTypes, SlidingWindows) {
  // Mistral 7B: a window, everywhere; null or 0 means none.
  EXPECT_EQ(Types(R"("num_hidden_layers": 2, "sliding_window": 4096)"), "SWA SWA");
  EXPECT_EQ(Types(R"("num_hidden_layers": 2, "sliding_window": null)"), "FULL FULL");
  EXPECT_EQ(Types(R"("num_hidden_layers": 2, "sliding_window": -1)"), "FULL FULL");
  // Qwen2: off by the switch; on for the layers after max_window_layers.
  EXPECT_EQ(Types(R"("num_hidden_layers": 2, "sliding_window": 8, "use_sliding_window": false,
                     "max_window_layers": 1)"),
            "FULL FULL");
  EXPECT_EQ(Types(R"("num_hidden_layers": 2, "sliding_window": 8, "use_sliding_window": true,
                     "max_window_layers": 1)"),
            "FULL SWA");
  // Gemma 3: five of six slide, also where the file leaves the pattern to the code.
  const std::string six = "SWA SWA SWA SWA SWA FULL SWA";
  EXPECT_EQ(Types(R"("num_hidden_layers": 7, "sliding_window": 8, "sliding_window_pattern": 6)"),
            six);
  EXPECT_EQ(Types(R"("model_type": "gemma3_text", "num_hidden_layers": 7, "sliding_window": 8)"),
            six);
  EXPECT_EQ(Types(R"("model_type": "gemma2", "num_hidden_layers": 3, "sliding_window": 8)"),
            "SWA FULL SWA");
  // EXAONE 4 as letters: the last layer never slides.
  EXPECT_EQ(Types(R"("num_hidden_layers": 6, "sliding_window": 8,
                     "sliding_window_pattern": "LLLG")"),
            "SWA SWA SWA FULL SWA FULL");
}

TEST(LayerTypes, LlamaFour) {
  // Experts in every second layer, the second first; no list of layers, so no base but FULL.
  EXPECT_EQ(Types(R"("num_hidden_layers": 4, "num_local_experts": 128, "attention_chunk_size": 8192,
                     "interleave_moe_layer_step": 2)"),
            "FULL+DENSE FULL+MOE FULL+DENSE FULL+MOE");
  EXPECT_EQ(Types(R"("num_hidden_layers": 2, "num_local_experts": 16,
                     "interleave_moe_layer_step": 0)"),
            "FULL+DENSE FULL+DENSE");
  EXPECT_EQ(Types(R"("num_hidden_layers": 3, "num_local_experts": 16, "moe_layers": [2],
                     "interleave_moe_layer_step": 1)"),
            "FULL+DENSE FULL+DENSE FULL+MOE");
  EXPECT_EQ(Types(R"("num_hidden_layers": 2, "attention_chunk_size": 8192,
                     "no_rope_layers": [1, 0])"),
            "SWA FULL");
}

TEST(LayerTypes, WhichLayersHaveExperts) {
  EXPECT_EQ(Types(R"("num_hidden_layers": 3, "num_experts": 4, "mlp_only_layers": [1, 90])"),
            "FULL+MOE FULL+DENSE FULL+MOE");
  EXPECT_EQ(Types(R"("num_hidden_layers": 4, "num_experts": 4, "decoder_sparse_step": 2)"),
            "FULL+DENSE FULL+MOE FULL+DENSE FULL+MOE");
  // DeepSeek: from layer 1 on, those that 2 divides.
  EXPECT_EQ(Types(R"("num_hidden_layers": 4, "n_routed_experts": 4, "first_k_dense_replace": 1,
                     "moe_layer_freq": 2)"),
            "FULL+DENSE FULL+DENSE FULL+MOE FULL+DENSE");
  // The list goes before the number.
  EXPECT_EQ(Types(R"("num_hidden_layers": 3, "num_experts": 4, "first_k_dense_replace": 2,
                     "mlp_layer_types": ["dense", "sparse", "hash_moe"])"),
            "FULL+DENSE FULL+MOE FULL+HASH+MOE");
  // Step 3: a list as text.
  EXPECT_EQ(Types(R"("num_hidden_layers": 3, "moe_num_experts": 4, "moe_layers_enum": "1, 2")"),
            "FULL+DENSE FULL+MOE FULL+MOE");
  // ERNIE 4.5.
  EXPECT_EQ(Types(R"("num_hidden_layers": 4, "moe_num_experts": [64, 64], "moe_layer_interval": 1,
                     "moe_layer_start_index": [1, 1], "moe_layer_end_index": 2)"),
            "FULL+DENSE FULL+MOE FULL+MOE FULL+DENSE");
  // LFM2.
  EXPECT_EQ(Types(R"("num_hidden_layers": 2, "num_experts": 4, "num_dense_layers": 1)"),
            "FULL+DENSE FULL+MOE");
}

TEST(LayerTypes, OneExpertOrNoneIsNoMixture) {
  EXPECT_EQ(Types(R"("num_hidden_layers": 1, "num_local_experts": 0)"), "FULL");
  EXPECT_EQ(Types(R"("num_hidden_layers": 1, "num_experts": 1)"), "FULL");
  EXPECT_EQ(Types(R"("num_hidden_layers": 1, "num_experts": null)"), "FULL");
  EXPECT_EQ(Types(R"("num_hidden_layers": 1, "num_experts": 8, "enable_moe_block": false)"),
            "FULL");
}

TEST(LayerTypes, RatiosStandBesideTypes) {
  base::Result<ModelConfig> config =
      ParseModelConfig(R"({"num_hidden_layers": 2, "compress_ratios": [0, 128]})", "c.json");
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->layers[0].ratio, 0);
  EXPECT_EQ(config->layers[1].ratio, 128);
}

TEST(LayerTypes, NumbersThatCannotBeMeantAreRefused) {
  EXPECT_EQ(Types(R"("num_hidden_layers": 1, "full_attention_interval": 0)"),
            "c.json: full_attention_interval: must be at least 1, but is 0");
  EXPECT_EQ(Types(R"("num_hidden_layers": 1, "compress_ratios": [-4])"),
            "c.json: compress_ratios: -4 cannot be meant");
  EXPECT_EQ(Types(R"("num_hidden_layers": 1, "compress_ratios": 4)"),
            "c.json: compress_ratios: must be a list of whole numbers, but is a number");
  EXPECT_EQ(Types(R"("num_hidden_layers": 1, "layer_types": [1])"),
            "c.json: layer_types: must be a list of texts, but holds a number");
  EXPECT_EQ(Types(R"("num_hidden_layers": 1, "num_experts": 4, "mlp_only_layers": [-1])"),
            "c.json: mlp_only_layers: names a negative layer");
  EXPECT_EQ(Types(R"("num_hidden_layers": 1, "linear_attn_config": {"kda_layers": ["a"]})"),
            "c.json: kda_layers: must be a list of layer numbers");
}

}  // namespace
}  // namespace layerscope::model

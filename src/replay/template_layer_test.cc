#include "src/replay/template_layer.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "src/model/model_config.h"

namespace layerscope::replay {
namespace {

TemplateNames Names(const std::string& config) {
  const base::Result<model::ModelConfig> parsed = model::ParseModelConfig(config, "config.json");
  EXPECT_TRUE(parsed.ok());
  const std::optional<TemplateNames> names = NamesOf(*parsed);
  EXPECT_TRUE(names.has_value());
  return names.value_or(TemplateNames());
}

const char* const kQwen3 = R"({"model_type": "qwen3", "num_hidden_layers": 4, "hidden_size": 64,
    "num_attention_heads": 4, "num_key_value_heads": 2})";
const char* const kLlama = R"({"model_type": "llama", "num_hidden_layers": 4, "hidden_size": 64,
    "num_attention_heads": 4, "num_key_value_heads": 2})";
const char* const kGptOss = R"({"model_type": "gpt_oss", "num_hidden_layers": 4, "hidden_size": 64,
    "num_attention_heads": 4, "num_key_value_heads": 2, "num_local_experts": 8,
    "num_experts_per_tok": 2})";
const char* const kDeepseek = R"({"model_type": "deepseek_v3", "num_hidden_layers": 4,
    "hidden_size": 64, "num_attention_heads": 4, "kv_lora_rank": 16, "n_routed_experts": 8,
    "num_experts_per_tok": 2, "n_shared_experts": 1})";

/// Paths below the layer, "-" for the layer itself; empty when the template does not fit.
std::vector<std::string> Lay(const TemplateNames& names, std::string_view type,
                             const std::vector<std::string>& kernels) {
  std::vector<TemplateKernel> read;
  for (const std::string& kernel : kernels) read.push_back(ReadTemplateKernel(kernel));
  const std::optional<std::vector<TemplateSlot>> slots = LayTemplate(read, names, type);
  if (!slots) return {};
  std::vector<std::string> paths;
  for (const TemplateSlot slot : *slots) {
    const std::string path = PathBelowLayer(slot, names, IsLinearLayer(type));
    paths.push_back(path.empty() ? "-" : path);
  }
  return paths;
}

using Paths = std::vector<std::string>;

// Kernel names and modules as a public SGLang run of Qwen3-8B on MI300 has them, where the capture
// gives each kernel's module.
TEST(TemplateLayer, NamesEveryModuleOfAMergedDenseLayer) {
  EXPECT_EQ(Lay(Names(kQwen3), "FULL",
                {"_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0ELb0ELb1ELi1EEEvPT0_",
                 "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x32x256_MI16x16x1",
                 "void at::native::elementwise_kernel_manual_unroll<128, 8, direct_copy>(int)",
                 "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi64ELi8ELb0ELb0ELb1ELi1EEEvPT0_",
                 "void at::native::elementwise_kernel_manual_unroll<128, 8, direct_copy>(int)",
                 "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi64ELi8ELb0ELb0ELb1ELi1EEEvPT0_",
                 "void rotary_embedding_kernel<c10::BFloat16, true>(long const*)",
                 "void (anonymous namespace)::store_kvcache<2048l, 4, false, long>(int)",
                 "void paged_attention_ll4mi_QKV_mfma16_kernel<0>(int)",
                 "void paged_attention_ll4mi_reduce_kernel<0>(int)",
                 "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT16x32x512_MI16x16x1",
                 "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb1ELb0ELb1ELi1EEEvPT0_",
                 "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x32x64_MI16x16x1",
                 "_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16EEvPS3_PS4_i",
                 "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT32x32x256_MI16x16x1"}),
            (Paths{"input_layernorm", "self_attn.qkv_proj", "self_attn", "self_attn.q_norm",
                   "self_attn", "self_attn.k_norm", "self_attn.rotary_emb", "self_attn.attn",
                   "self_attn.attn", "self_attn.attn", "self_attn.o_proj",
                   "post_attention_layernorm", "mlp.gate_up_proj", "mlp.act_fn", "mlp.down_proj"}));
}

TEST(TemplateLayer, SeparateProjectionsKeepTheirOrder) {
  EXPECT_EQ(
      Lay(Names(kLlama), "FULL",
          {"rms_norm_kernel", "gemm_q", "gemm_k", "gemm_v", "rotary_kernel", "flash_fwd_kernel",
           "gemm_o", "elementwise_kernel", "rms_norm_kernel", "gemm_gate", "silu_kernel", "gemm_up",
           "elementwise_kernel", "gemm_down", "elementwise_kernel"}),
      (Paths{"input_layernorm", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
             "self_attn.rotary_emb", "self_attn.attn", "self_attn.o_proj", "-",
             "post_attention_layernorm", "mlp.gate_proj", "mlp.act_fn", "mlp.up_proj", "mlp",
             "mlp.down_proj", "-"}));
}

TEST(TemplateLayer, WhatIsNotCertainGoesToTheModuleAroundIt) {
  // Two projections before the attention, a quantization, an all-reduce, split-K sums.
  EXPECT_EQ(Lay(Names(kLlama), "FULL",
                {"fused_add_rms_norm_kernel", "scaled_fp8_quant_kernel", "gemm_a", "gemm_b",
                 "flash_fwd_kernel", "gemm_o", "cublasLt::splitKreduce_kernel<32>(int)",
                 "ncclDevKernel_AllReduce_Sum", "fused_add_rms_norm_kernel", "gemm_x", "gemm_y",
                 "act_and_mul_kernel", "gemm_z"}),
            (Paths{"input_layernorm", "self_attn", "self_attn", "self_attn", "self_attn.attn",
                   "self_attn.o_proj", "self_attn.o_proj", "-", "post_attention_layernorm", "mlp",
                   "mlp", "mlp.act_fn", "mlp.down_proj"}));
}

TEST(TemplateLayer, RoutedExpertsStandBehindTheirRouter) {
  EXPECT_EQ(
      Lay(Names(kGptOss), "FULL+MOE",
          {"rms_norm_kernel", "gemm_qkv", "rotary_kernel", "reshape_and_cache_flash_kernel",
           "kernel_unified_attention_3d", "reduce_segments", "gemm_o", "rms_norm_kernel",
           "gemm_router", "_topk_forward", "_combined_routing_compute",
           "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", "_finalize_matmul_scatter_bf16"}),
      (Paths{"input_layernorm", "self_attn.qkv_proj", "self_attn.rotary_emb", "self_attn.attn",
             "self_attn.attn", "self_attn.attn", "self_attn.o_proj", "post_attention_layernorm",
             "mlp.router", "mlp", "mlp", "mlp.experts", "mlp.experts"}));
}

TEST(TemplateLayer, LatentAttentionNamesOnlyItsHalfAndTheProjectionBehindIt) {
  EXPECT_EQ(Lay(Names(kDeepseek), "FULL+MOE",
                {"rms_norm_kernel", "gemm_a", "rms_norm_kernel", "rms_norm_kernel", "gemm_b",
                 "rotary_kernel", "concat_and_cache_mla_kernel", "flash_mla_kernel", "gemm_uv",
                 "gemm_o", "fused_add_rms_norm_kernel", "gemm_gate", "topkGatingSoftmax",
                 "fused_moe_kernel", "gemm_shared", "act_and_mul_kernel", "gemm_shared_down"}),
            (Paths{"input_layernorm", "self_attn", "self_attn", "self_attn", "self_attn",
                   "self_attn", "self_attn", "self_attn", "self_attn", "self_attn.o_proj",
                   "post_attention_layernorm", "mlp", "mlp", "mlp.experts", "mlp", "mlp", "mlp"}));
}

TEST(TemplateLayer, AMissingModuleMeansNoTemplate) {
  const TemplateNames llama = Names(kLlama);
  const Paths whole = {"rms_norm_kernel", "gemm_qkv", "flash_fwd_kernel",   "gemm_o",
                       "rms_norm_kernel", "gemm_up",  "act_and_mul_kernel", "gemm_down"};
  ASSERT_EQ(Lay(llama, "FULL", whole).size(), whole.size());
  for (size_t without = 0; without < whole.size(); ++without) {
    Paths kernels = whole;
    kernels.erase(kernels.begin() + static_cast<std::ptrdiff_t>(without));
    EXPECT_TRUE(Lay(llama, "FULL", kernels).empty()) << "without " << whole[without];
  }
}

TEST(TemplateLayer, AnotherKindOfLayerThanTheConfigsIsRefused) {
  const Paths dense = {"rms_norm_kernel", "gemm_qkv", "flash_fwd_kernel",   "gemm_o",
                       "rms_norm_kernel", "gemm_up",  "act_and_mul_kernel", "gemm_down"};
  EXPECT_TRUE(Lay(Names(kGptOss), "FULL+MOE", dense).empty());
  EXPECT_TRUE(Lay(Names(kLlama), "LINEAR", dense).empty());
  Paths four_norms = dense;
  four_norms.push_back("rms_norm_kernel");
  EXPECT_TRUE(Lay(Names(kLlama), "FULL", four_norms).empty());
  Paths normed_queries = dense;
  normed_queries.insert(normed_queries.begin() + 2, "rms_norm_kernel");
  EXPECT_TRUE(Lay(Names(kLlama), "FULL", normed_queries).empty());
}

TEST(TemplateLayer, QueryNormsThatTheConfigHasMustHaveAKernelThatCanHoldThem) {
  const auto with = [](const std::string& kernel) {
    Paths kernels = {"rms_norm_kernel", "gemm_qkv", "flash_fwd_kernel",   "gemm_o",
                     "rms_norm_kernel", "gemm_up",  "act_and_mul_kernel", "gemm_down"};
    kernels.insert(kernels.begin() + 2, kernel);
    return kernels;
  };
  const TemplateNames qwen3 = Names(kQwen3);
  EXPECT_TRUE(Lay(qwen3, "FULL", with("rotary_embedding_kernel")).empty());
  EXPECT_TRUE(Lay(qwen3, "FULL", with("triton_poi_fused_0")).empty());
  EXPECT_FALSE(Lay(qwen3, "FULL", with("fused_qk_norm_rope_kernel")).empty());
  EXPECT_FALSE(Lay(qwen3, "FULL", with("triton_red_fused_1")).empty());
  EXPECT_TRUE(Lay(Names(kLlama), "FULL", with("fused_qk_norm_rope_kernel")).empty());
}

TEST(TemplateLayer, KernelsOnASideStreamAreTheLayersOwn) {
  const TemplateNames llama = Names(kLlama);
  std::vector<TemplateKernel> kernels;
  for (const char* name :
       {"rms_norm_kernel", "gemm_qkv", "flash_fwd_kernel", "gemm_aside", "gemm_o",
        "rms_norm_kernel", "gemm_up", "act_and_mul_kernel", "gemm_down"}) {
    kernels.push_back(ReadTemplateKernel(name));
  }
  kernels[3].aside = true;
  const std::optional<std::vector<TemplateSlot>> slots = LayTemplate(kernels, llama, "FULL");
  ASSERT_TRUE(slots.has_value());
  EXPECT_EQ((*slots)[3], TemplateSlot::kLayer);
  EXPECT_EQ((*slots)[4], TemplateSlot::kOutProjection);
}

TEST(TemplateNames, FamiliesWithOtherNormsOrNamesHaveNone) {
  for (const char* type : {"gemma3_text", "gpt2", "nemotron_h", "cohere", "unheard_of"}) {
    const auto config = model::ParseModelConfig(
        std::string(R"({"num_hidden_layers": 2, "model_type": ")") + type + "\"}", "config.json");
    ASSERT_TRUE(config.ok()) << type;
    EXPECT_FALSE(NamesOf(*config).has_value()) << type;
  }
}

TEST(TemplateNames, ANestedTextModelHangsBelowItsWrapper) {
  const TemplateNames names = Names(R"({"model_type": "qwen3_vl_moe", "text_config": {
      "model_type": "qwen3_vl_moe_text", "num_hidden_layers": 2, "num_experts": 8}})");
  EXPECT_EQ(names.Layer(1), "language_model.model.layers.1");
}

}  // namespace
}  // namespace layerscope::replay

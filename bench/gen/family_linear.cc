// Models that mix linear and full attention: Kimi-K3, GLM-5 Next, Qwen4-Exp, Nemotron-H.

#include "bench/gen/family.h"
#include "bench/gen/family_names.h"
#include "bench/gen/kernel_names.h"

namespace layerscope::gen {
namespace {

constexpr Row kEmbed[] = {{kGather, 60, Work::kEmbed}, {kOneShotReduce, 70, Work::kReduce, kTp}};

// ---- mixers

constexpr Row kKda[] = {
    {kGemmQkv, 150, Work::kGemm},
    {kSplitReduce, 32, Work::kGemm},
    {kConvUpdate, 36, Work::kMixer, kDecodeOnly},
    {kConvPrefill, 60, Work::kMixer, kPrefillOnly},
    {"kda_gate_chunk_cumsum_vector_kernel", 34, Work::kMixer, kPrefillOnly},
    {kL2Norm, 30, Work::kNorm, kPrefillOnly},
    {"chunk_kda_fwd_kernel_inter_solve_fused", 120, Work::kMixer, kPrefillOnly},
    {"recompute_w_u_fwd_kda_kernel", 90, Work::kMixer, kPrefillOnly},
    {"chunk_gated_delta_rule_fwd_kernel_h_blockdim64", 110, Work::kMixer, kPrefillOnly},
    {"chunk_gla_fwd_kernel_o", 100, Work::kMixer, kPrefillOnly},
    {"fused_recurrent_kda_fwd_kernel", 130, Work::kMixer, kDecodeOnly},
    {kGatedNorm, 38, Work::kNorm},
    {kGemmOut, 110, Work::kGemm},
    {kOneShotReduce, 80, Work::kReduce, kTp},
};
constexpr Row kGdn[] = {
    {kGemmQkv, 140, Work::kGemm},
    {kGemmDown, 40, Work::kGemm},
    {"fused_qkvzba_split_reshape_cat_kernel", 34},
    {kConvUpdate, 36, Work::kMixer, kDecodeOnly},
    {kConvPrefill, 60, Work::kMixer, kPrefillOnly},
    {"fused_gdn_gating_kernel", 24, Work::kMixer, kPrefillOnly},
    {"chunk_local_cumsum_scalar_kernel", 30, Work::kMixer, kPrefillOnly},
    {"chunk_scaled_dot_kkt_fwd_kernel", 60, Work::kMixer, kPrefillOnly},
    {"recompute_w_u_fwd_kernel", 90, Work::kMixer, kPrefillOnly},
    {"chunk_gated_delta_rule_fwd_kernel_h_blockdim64", 110, Work::kMixer, kPrefillOnly},
    {"chunk_fwd_kernel_o", 100, Work::kMixer, kPrefillOnly},
    {"fused_sigmoid_gating_delta_rule_update_kernel", 140, Work::kMixer, kDecodeOnly},
    {kGatedNorm, 38, Work::kNorm},
    {kGemmOut, 100, Work::kGemm},
    {kOneShotReduce, 80, Work::kReduce, kTp},
};
constexpr Row kMla[] = {
    {kGemmQkv, 130, Work::kGemm},
    {"fused_qk_layernorm_kernel", 36, Work::kNorm},
    {kGemmUp, 100, Work::kGemm},
    {kAbsorbBmm, 60, Work::kGemm},
    {"set_mla_kv_buffer_kernel", 28, Work::kCache},
    {kDenseMla, 230, Work::kMixer, kDecodeOnly},
    {kMlaCombine, 40, Work::kMixer, kDecodeOnly},
    {kMlaPrefill, 420, Work::kMixer, kPrefillOnly},
    {kAbsorbBmm, 60, Work::kGemm},
    {"_sigmoid_mul_gate_kernel", 32},
    {kGemmOut, 110, Work::kGemm},
    {kOneShotReduce, 80, Work::kReduce, kTp},
};
constexpr Row kSparse[] = {
    {kGemmQkv, 130, Work::kGemm},
    {"fused_qk_layernorm_kernel", 36, Work::kNorm},
    {kGemmUp, 100, Work::kGemm},
    {kAbsorbBmm, 60, Work::kGemm},
    {"set_mla_kv_buffer_kernel", 28, Work::kCache},
    {kHadamard, 30},
    {kPagedMqaLogits, 110, Work::kMixer, kDecodeOnly},
    {kMqaLogits, 190, Work::kMixer, kPrefillOnly},
    {kTopkTransform, 62},
    {kSparseMla, 190, Work::kMixer, kDecodeOnly},
    {kMlaCombine, 40, Work::kMixer, kDecodeOnly},
    {kSparsePrefill, 300, Work::kMixer, kPrefillOnly},
    {kAbsorbBmm, 60, Work::kGemm},
    {kGemmOut, 110, Work::kGemm},
    {kOneShotReduce, 80, Work::kReduce, kTp},
};
constexpr Row kAttention[] = {
    {kGemmQkv, 120, Work::kGemm},
    {"fused_qk_norm_rope_kernel", 36, Work::kNorm},
    {kStoreCache, 28, Work::kCache},
    {kFlashDecode, 210, Work::kMixer, kDecodeOnly},
    {kFlashCombine, 36, Work::kMixer, kDecodeOnly},
    {kFlashPrefill, 380, Work::kMixer, kPrefillOnly},
    {"_sigmoid_mul_gate_kernel", 32},
    {kGemmOut, 100, Work::kGemm},
    {kOneShotReduce, 80, Work::kReduce, kTp},
};
constexpr Row kMamba[] = {
    {kGemmQkv, 160, Work::kGemm},
    {kConvUpdate, 36, Work::kMixer, kDecodeOnly},
    {"_selective_scan_update_kernel", 150, Work::kMixer, kDecodeOnly},
    {kConvPrefill, 60, Work::kMixer, kPrefillOnly},
    {"_chunk_cumsum_fwd_kernel", 34, Work::kMixer, kPrefillOnly},
    {"_chunk_state_fwd_kernel", 90, Work::kMixer, kPrefillOnly},
    {"_state_passing_fwd_kernel", 40, Work::kMixer, kPrefillOnly},
    {"_bmm_chunk_fwd_kernel", 60, Work::kMixer, kPrefillOnly},
    {"_chunk_scan_fwd_kernel", 130, Work::kMixer, kPrefillOnly},
    {kGatedNorm, 38, Work::kNorm},
    {kGemmOut, 110, Work::kGemm},
    {kOneShotReduce, 80, Work::kReduce, kTp},
};

// ---- feed-forward halves

constexpr Row kMoe[] = {
    {kRouterGemm, 46, Work::kGemm},
    {kGemmUp, 70, Work::kGemm, kSide},
    {kSiluMul, 26, Work::kFfn, kSide},
    {kGemmDown, 60, Work::kGemm, kSide},
    {kRouteTopk, 40, Work::kFfn},
    {kMoeAlign, 42, Work::kFfn},
    {kFusedMoe, 380, Work::kFfn},
    {kSiluMul, 38, Work::kFfn},
    {kFusedMoe, 250, Work::kFfn},
    {kMoeSum, 45, Work::kFfn},
    {kOneShotReduce, 80, Work::kReduce, kTp},
};
constexpr Row kDenseFfn[] = {
    {kGemmUp, 240, Work::kGemm},
    {kSiluMul, 34, Work::kFfn},
    {kGemmDown, 180, Work::kGemm},
    {kOneShotReduce, 80, Work::kReduce, kTp},
};
constexpr Row kRelu2Ffn[] = {
    {kGemmUp, 240, Work::kGemm},
    {"void vllm::relu_squared_kernel<c10::BFloat16>(c10::BFloat16*, c10::BFloat16 const*, int)", 34,
     Work::kFfn},
    {kGemmDown, 180, Work::kGemm},
    {kOneShotReduce, 80, Work::kReduce, kTp},
};

// ---- Kimi-K3: one aggregation over the earlier blocks opens each half, and one stands at the end.

constexpr Row kResidual[] = {{"attn_res_fused_kernel", 82, Work::kNorm, kAnchor}};
constexpr Row kKimiTail[] = {{"attn_res_fused_kernel", 82, Work::kNorm, kAnchor},
                             {kLmHead, 560, Work::kGemm, kOutsideGraph}};

std::vector<Block> KimiLayer(Rows mixer, Rows ffn) {
  return {{kResidual, mixer}, {kResidual, ffn}};
}

// ---- GLM-5 Next: hyper-connections as in DeepSeek-V4.

constexpr Row kHyperPrelude[] = {{"mhc_pre_gemm_sqrsum_tilelang_kernel", 52, Work::kNorm}};
constexpr Row kHyperOpen[] = {{"mhc_pre_big_fuse_tilelang_kernel", 71, Work::kNorm, kAnchor},
                              {kFlashinferNorm, 38, Work::kNorm}};
constexpr Row kHyperHalf[] = {{"mhc_post_tilelang_kernel", 44},
                              {"mhc_pre_gemm_sqrsum_tilelang_kernel", 52, Work::kNorm}};
constexpr Row kHyperClose[] = {{"mhc_post_tilelang_kernel", 44}};
constexpr Row kHyperHead[] = {
    {kGather, 60, Work::kEmbed}, {kOneShotReduce, 70, Work::kReduce, kTp}, {kBf16Copy, 40}};
constexpr Row kHyperTail[] = {{"hc_head_fuse_tilelang_kernel", 64},
                              {kFlashinferNorm, 38, Work::kNorm},
                              {kLmHead, 560, Work::kGemm, kOutsideGraph}};

std::vector<Block> HyperLayer(Rows mixer, Rows ffn) {
  return {{kHyperOpen, mixer, kHyperHalf}, {kHyperOpen, ffn, kHyperClose}};
}

// ---- Qwen4-Exp

constexpr Row kGroupedOpen[] = {{"_grouped_gemma_rmsnorm_kernel", 42, Work::kNorm, kAnchor},
                                {kGemmDown, 44, Work::kGemm},
                                {"_hc_gate_reduce_kernel", 36}};
constexpr Row kGroupedClose[] = {{"_hc_inject_combine_kernel", 40}};
constexpr Row kGroupedTail[] = {
    {"_hc_head_reduce_kernel", 36},
    {"void flashinfer::norm::GemmaRMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*, "
     "__nv_bfloat16*, __nv_bfloat16*, unsigned int, unsigned int, float)",
     38, Work::kNorm},
    {kLmHead, 560, Work::kGemm, kOutsideGraph}};

std::vector<Block> GroupedLayer(Rows mixer, Rows ffn) {
  return {{kGroupedOpen, mixer, kGroupedClose}, {kGroupedOpen, ffn, kGroupedClose}};
}

// ---- Nemotron-H: one block a layer.

constexpr Row kResidualNorm[] = {{kRmsNorm, 38, Work::kNorm, kFirstLayer | kAnchor},
                                 {kFusedAddRmsNorm, 45, Work::kNorm, kNotFirstLayer | kAnchor}};
constexpr Row kNemotronTail[] = {{kFusedAddRmsNorm, 45, Work::kNorm, kAnchor},
                                 {kLmHead, 560, Work::kGemm, kOutsideGraph}};

std::vector<Block> OneBlock(Rows rows) {
  return {{kResidualNorm, rows}};
}

}  // namespace

const Family& KimiK3() {
  static const Family family = {
      .name = "kimi_k3",
      .profile = "kimi_k3",
      .anchor = "attn_res_fused",
      .model_class = "KimiK3ForConditionalGeneration",
      .layer_class = "KimiDecoderLayer",
      .mixer_class = "KimiDeltaAttention",
      .ffn_class = "KimiMoE",
      .layers = 93,
      .prelude = {},
      .head = kEmbed,
      .tail = kKimiTail,
      .forms = {{'d', "LINEAR+DENSE", -1, "1", KimiLayer(kKda, kDenseFfn)},
                {'k', "LINEAR+MOE", -1, "1", KimiLayer(kKda, kMoe)},
                {'f', "FULL+MOE", -1, "0", KimiLayer(kMla, kMoe)}},
      .prefix = "dkkf",
      .cycle = "kkkf",
      .config = {.outer = R"("architectures": ["KimiK3ForConditionalGeneration"],
    "model_type": "kimi_k3", "dtype": "bfloat16")",
                 .members = R"("architectures": ["KimiLinearForCausalLM"],
    "model_type": "kimi_linear", "attn_res_block_size": 12, "hidden_size": 7168,
    "num_attention_heads": 96, "num_key_value_heads": 96, "q_lora_rank": 1536,
    "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
    "intermediate_size": 33792, "first_k_dense_replace": $DENSE, "moe_layer_freq": 1,
    "num_experts": 896, "num_experts_per_token": 16, "num_shared_experts": 2,
    "moe_intermediate_size": 3072, "num_nextn_predict_layers": 0, "vocab_size": 163840)",
                 .list = LayerList::kIdLists,
                 .key = "kda_layers",
                 .second_key = "full_attn_layers",
                 .id_object = "linear_attn_config",
                 .first_id = 1}};
  return family;
}

const Family& Glm5Next() {
  static const Family family = {
      .name = "glm5_next",
      .profile = "glm5_next",
      .anchor = "mhc_pre_big_fuse",
      .model_class = "Glm5NextForConditionalGeneration",
      .layer_class = "Glm5NextDecoderLayer",
      .mixer_class = "Glm5NextAttention",
      .ffn_class = "Glm5NextMoE",
      .layers = 45,
      .prelude = kHyperPrelude,
      .head = kHyperHead,
      .tail = kHyperTail,
      .forms = {{'d', "LINEAR+DENSE", -1, R"("linear_attention")", HyperLayer(kKda, kDenseFfn)},
                {'k', "LINEAR+MOE", -1, R"("linear_attention")", HyperLayer(kKda, kMoe)},
                {'x', "DSA+MOE", -1, R"("deepseek_sparse_attention")", HyperLayer(kSparse, kMoe)}},
      .prefix = "dddx",
      .cycle = "kkkx",
      .config = {.outer = R"("architectures": ["Glm5NextForConditionalGeneration"],
    "model_type": "glm5_next", "dtype": "bfloat16")",
                 .members = R"("model_type": "glm5_next_text", "hidden_size": 4096,
    "num_attention_heads": 32, "num_key_value_heads": 32, "q_lora_rank": 1536,
    "kv_lora_rank": 512, "qk_nope_head_dim": 192, "qk_rope_head_dim": 0, "v_head_dim": 256,
    "index_n_heads": 32, "index_head_dim": 128, "index_topk": 2048, "hc_mult": 4,
    "intermediate_size": 12288, "first_k_dense_replace": $DENSE, "n_routed_experts": 288,
    "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 2048,
    "num_nextn_predict_layers": 1, "vocab_size": 154880)",
                 .list = LayerList::kWords,
                 .key = "layer_types"}};
  return family;
}

const Family& Qwen4Exp() {
  static const Family family = {
      .name = "qwen4_exp",
      .profile = "qwen4_exp",
      .anchor = "grouped_gemma_rmsnorm",
      .model_class = "Qwen4ExpForConditionalGeneration",
      .layer_class = "Qwen4ExpDecoderLayer",
      .mixer_class = "Qwen4ExpAttention",
      .ffn_class = "Qwen4ExpSparseMoeBlock",
      .layers = 48,
      .prelude = {},
      .head = kHyperHead,
      .tail = kGroupedTail,
      .forms = {{'g', "LINEAR+MOE", -1, R"("linear_attention")", GroupedLayer(kGdn, kMoe)},
                {'f', "FULL+MOE", -1, R"("full_attention")", GroupedLayer(kAttention, kMoe)}},
      .prefix = "",
      .cycle = "gggf",
      .config = {.outer = R"("architectures": ["Qwen4ExpForConditionalGeneration"],
    "model_type": "qwen4_exp")",
                 .members = R"("model_type": "qwen4_exp_text", "hidden_size": 2560,
    "num_attention_heads": 24, "num_key_value_heads": 2, "head_dim": 256,
    "full_attention_interval": 4, "linear_num_key_heads": 16, "linear_num_value_heads": 48,
    "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4,
    "hc_count": 4, "num_experts": 512, "num_experts_per_tok": 10, "moe_intermediate_size": 640,
    "shared_expert_intermediate_size": 640, "vocab_size": 248320)",
                 .list = LayerList::kWords,
                 .key = "layer_types"}};
  return family;
}

const Family& NemotronH() {
  static const Family family = {.name = "nemotron_h",
                                .profile = "nemotron_h",
                                .anchor = "rms_norm_kernel",
                                .model_class = "NemotronHForCausalLM",
                                .layer_class = "NemotronHDecoderLayer",
                                .mixer_class = "NemotronHMixer",
                                .ffn_class = "NemotronHMixer",
                                .layers = 118,
                                .prelude = {},
                                .head = kEmbed,
                                .tail = kNemotronTail,
                                .forms = {{'M', "MAMBA", -1, "M", OneBlock(kMamba)},
                                          {'*', "ATTN", -1, "*", OneBlock(kAttention)},
                                          {'-', "MLP", -1, "-", OneBlock(kRelu2Ffn)}},
                                .prefix = "",
                                .cycle = "M-M-M-M*-",
                                .config = {.members = R"("architectures": ["NemotronHForCausalLM"],
    "model_type": "nemotron_h", "hidden_size": 8192, "num_attention_heads": 64,
    "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 32768, "mamba_num_heads": 256,
    "mamba_head_dim": 64, "ssm_state_size": 256, "mlp_hidden_act": "relu2", "vocab_size": 131072,
    "torch_dtype": "bfloat16")",
                                           .list = LayerList::kPattern,
                                           .key = "hybrid_override_pattern"}};
  return family;
}

}  // namespace layerscope::gen

// DeepSeek-V3, models with its sparse indexer (V3.2, GLM-5), and LongCat-Flash.

#include "bench/gen/family.h"
#include "bench/gen/family_names.h"
#include "bench/gen/kernel_names.h"

namespace layerscope::gen {
namespace {

constexpr Row kHead[] = {{kGather, 60, Work::kEmbed}, {kOneShotReduce, 70, Work::kReduce, kTp}};
constexpr Row kTail[] = {{kFlashinferAddNorm, 45, Work::kNorm},
                         {kLmHead, 560, Work::kGemm, kOutsideGraph}};

constexpr Row kInputNorm[] = {
    {kFlashinferNorm, 38, Work::kNorm, kFirstLayer | kAnchor},
    {kFlashinferAddNorm, 45, Work::kNorm, kNotFirstLayer | kNotTpFused | kAnchor},
    {kLamportReduceNorm, 120, Work::kNorm, kNotFirstLayer | kTpFused | kAnchor | kReduces}};
constexpr Row kMiddleNorm[] = {
    {kFlashinferAddNorm, 45, Work::kNorm, kNotTpFused | kAnchor},
    {kLamportReduceNorm, 120, Work::kNorm, kTpFused | kAnchor | kReduces}};

constexpr Row kProject[] = {
    {kGroupQuant, 30},
    {kFp8GemmNarrow, 110, Work::kGemm},
    {"fused_qk_layernorm_kernel", 36, Work::kNorm},
    {kGroupQuant, 26},
    {kFp8Gemm, 120, Work::kGemm},
    {kAbsorbBmm, 60, Work::kGemm},
    {"void deepseek_rope_kernel<__nv_bfloat16, 64>(DeepseekRopeParams)", 34},
    {"set_mla_kv_buffer_kernel", 28, Work::kCache},
};
constexpr Row kDense[] = {
    {kDenseMla, 230, Work::kMixer, kDecodeOnly},
    {kMlaCombine, 40, Work::kMixer, kDecodeOnly},
    {kMlaPrefill, 420, Work::kMixer, kPrefillOnly},
};
constexpr Row kIndexed[] = {
    {kFp8GemmNarrow, 60, Work::kGemm},
    {kHadamard, 30},
    {"_act_quant_kernel", 27},
    {"_set_k_and_s_triton_kernel", 29, Work::kCache},
    {kPagedMqaLogits, 120, Work::kMixer, kDecodeOnly},
    {kMqaLogits, 200, Work::kMixer, kPrefillOnly},
    {kTopkTransform, 62},
    {kSparseMla, 190, Work::kMixer, kDecodeOnly},
    {kMlaCombine, 40, Work::kMixer, kDecodeOnly},
    {kSparsePrefill, 300, Work::kMixer, kPrefillOnly},
};
constexpr Row kOutput[] = {
    {kAbsorbBmm, 60, Work::kGemm},
    {kGroupQuant, 28},
    {kFp8Gemm, 150, Work::kGemm},
    {kOneShotReduce, 80, Work::kReduce, kTpPlain},
};
constexpr Row kDenseFfn[] = {
    {kGroupQuant, 28}, {kFp8Gemm, 240, Work::kGemm}, {kSiluMul, 34, Work::kFfn},
    {kGroupQuant, 30}, {kFp8Gemm, 180, Work::kGemm},
};
constexpr Row kMoe[] = {
    {kRouterGemm, 46, Work::kGemm},
    {kGroupQuant, 27, Work::kOther, kSide},
    {kFp8Gemm, 70, Work::kGemm, kSide},
    {kSiluMul, 26, Work::kFfn, kSide},
    {kFp8Gemm, 60, Work::kGemm, kSide},
    {kRouteTopk, 40, Work::kFfn},
    {kMoeAlign, 42, Work::kFfn},
    {kGroupQuant, 28},
    {kFusedMoe, 380, Work::kFfn},
    {kSiluMul, 38, Work::kFfn},
    {kGroupQuant, 31},
    {kFusedMoe, 250, Work::kFfn},
    {kMoeSum, 45, Work::kFfn},
};
// The last layer's all-reduce has no norm of a next layer to be fused with.
constexpr Row kReduceOut[] = {{kOneShotReduce, 80, Work::kReduce, kTpPlain},
                              {kOneShotReduce, 80, Work::kReduce, kTpFused | kLastLayer}};

std::vector<Block> Layer(Rows mixer, Rows ffn) {
  return {{kInputNorm, kProject, mixer, kOutput}, {kMiddleNorm, ffn, kReduceOut}};
}

// LongCat's experts run beside a dense half and the next attention.
constexpr Row kShortcut[] = {
    {kRouterGemm, 46, Work::kGemm, kSide}, {kRouteTopk, 40, Work::kFfn, kSide},
    {kMoeAlign, 42, Work::kFfn, kSide},    {kFusedMoe, 620, Work::kFfn, kSide},
    {kSiluMul, 40, Work::kFfn, kSide},     {kFusedMoe, 430, Work::kFfn, kSide},
    {kMoeSum, 45, Work::kFfn, kSide},
};
constexpr Row kAddShortcut[] = {{kBf16Add, 30}, {kOneShotReduce, 80, Work::kReduce, kTp}};
constexpr Row kReduceHalf[] = {{kOneShotReduce, 80, Work::kReduce, kTp}};

}  // namespace

const Family& DeepseekV3() {
  static const Family family = {.name = "dsv3_mla",
                                .profile = "dsv3_mla",
                                .anchor = "/RMSNormKernel|oneshot_lamport/",
                                .model_class = "DeepseekV3ForCausalLM",
                                .layer_class = "DeepseekV2DecoderLayer",
                                .mixer_class = "DeepseekV2AttentionMLA",
                                .ffn_class = "DeepseekV2MoE",
                                .layers = 61,
                                .prelude = {},
                                .head = kHead,
                                .tail = kTail,
                                .forms = {{'d', "FULL+DENSE", -1, "", Layer(kDense, kDenseFfn)},
                                          {'m', "FULL+MOE", -1, "", Layer(kDense, kMoe)}},
                                .prefix = "ddd",
                                .cycle = "m",
                                .config = {.members = R"("architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3", "hidden_size": 7168, "num_attention_heads": 128,
    "num_key_value_heads": 128, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "v_head_dim": 128, "intermediate_size": 18432,
    "first_k_dense_replace": $DENSE, "moe_layer_freq": 1, "n_routed_experts": 256,
    "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 2048,
    "num_nextn_predict_layers": 1, "vocab_size": 129280, "torch_dtype": "bfloat16")"}};
  return family;
}

const Family& MlaDsa() {
  static const Family family = {.name = "mla_dsa",
                                .profile = "mla_dsa",
                                .anchor = "/RMSNormKernel|oneshot_lamport/",
                                .model_class = "GlmMoeDsaForCausalLM",
                                .layer_class = "GlmMoeDsaDecoderLayer",
                                .mixer_class = "DeepseekV2AttentionMLA",
                                .ffn_class = "DeepseekV2MoE",
                                .layers = 78,
                                .prelude = {},
                                .head = kHead,
                                .tail = kTail,
                                .forms = {{'d', "DSA+DENSE", -1, "", Layer(kIndexed, kDenseFfn)},
                                          {'m', "DSA+MOE", -1, "", Layer(kIndexed, kMoe)}},
                                .prefix = "ddd",
                                .cycle = "m",
                                .config = {.members = R"("architectures": ["GlmMoeDsaForCausalLM"],
    "model_type": "glm_moe_dsa", "hidden_size": 6144, "num_attention_heads": 64,
    "num_key_value_heads": 64, "q_lora_rank": 2048, "kv_lora_rank": 512, "qk_nope_head_dim": 192,
    "qk_rope_head_dim": 64, "v_head_dim": 256, "index_n_heads": 32, "index_head_dim": 128,
    "index_topk": 2048, "intermediate_size": 12288, "first_k_dense_replace": $DENSE,
    "moe_layer_freq": 1, "n_routed_experts": 256, "n_shared_experts": 1,
    "num_experts_per_tok": 8, "moe_intermediate_size": 2048, "num_nextn_predict_layers": 1,
    "vocab_size": 154880, "dtype": "bfloat16")"}};
  return family;
}

const Family& LongcatFlash() {
  static const Family family = {
      .name = "longcat_flash",
      .profile = "longcat_flash",
      .anchor = "/RMSNormKernel/",
      .model_class = "LongcatFlashForCausalLM",
      .layer_class = "LongcatFlashDecoderLayer",
      .mixer_class = "DeepseekV2AttentionMLA",
      .ffn_class = "LongcatFlashMLP",
      .layers = 28,
      .prelude = {},
      .head = kHead,
      .tail = kTail,
      .forms = {{'l',
                 "FULL+MOE",
                 -1,
                 "",
                 {{kInputNorm, kProject, kDense, kOutput},
                  {kMiddleNorm, kShortcut, kDenseFfn, kReduceHalf},
                  {kMiddleNorm, kProject, kDense, kOutput},
                  {kMiddleNorm, kDenseFfn, kAddShortcut}}}},
      .prefix = "",
      .cycle = "l",
      .config = {.members = R"("architectures": ["LongcatFlashForCausalLM"],
    "model_type": "longcat_flash", "hidden_size": 6144, "num_attention_heads": 64,
    "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
    "v_head_dim": 128, "ffn_hidden_size": 12288, "expert_ffn_hidden_size": 2048,
    "n_routed_experts": 512, "zero_expert_num": 256, "moe_topk": 12, "vocab_size": 131072,
    "torch_dtype": "bfloat16")",
                 .count_key = "num_layers"},
      .side_stream = true};
  return family;
}

}  // namespace layerscope::gen

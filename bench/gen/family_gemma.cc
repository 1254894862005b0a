// Gemma-4 under SGLang (norms before and after each half) and Hy4 on its Triton fallback.

#include "bench/gen/family.h"
#include "bench/gen/family_names.h"
#include "bench/gen/kernel_names.h"

namespace layerscope::gen {
namespace {

constexpr std::string_view kGemmaNorm =
    "void flashinfer::norm::GemmaRMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*, __nv_bfloat16*, "
    "__nv_bfloat16*, unsigned int, unsigned int, float)";

constexpr Row kGemmaHead[] = {{kGather, 60, Work::kEmbed}, {"_gemma4_scale_embedding_kernel", 30}};
constexpr Row kGemmaTail[] = {{kGemmaNorm, 38, Work::kNorm},
                              {kLmHead, 560, Work::kGemm, kOutsideGraph},
                              {"_softcap_kernel", 30, Work::kOther, kOutsideGraph}};
constexpr Row kGemmaOpen[] = {{kGemmaNorm, 38, Work::kNorm},
                              {kGemmQkv, 130, Work::kGemm},
                              {"_gemma_qkv_rmsnorm_kernel", 39, Work::kNorm, kAnchor},
                              {"void flashinfer::BatchQKApplyRotaryPosIdsCosSinCacheKernel<true, "
                               "256u, 8u, 32u, __nv_bfloat16, long>(__nv_bfloat16*)",
                               30},
                              {kStoreCache, 27, Work::kCache}};
constexpr Row kSliding[] = {
    {"void flashinfer::BatchDecodeWithPagedKVCacheKernel<SlidingWindow, 2u, 8u, 16u, "
     "__nv_bfloat16>(flashinfer::BatchDecodeParams)",
     120, Work::kMixer, kDecodeOnly},
    {"void flashinfer::BatchPrefillWithPagedKVCacheKernel<SlidingWindow, 128u, __nv_bfloat16>("
     "flashinfer::BatchPrefillPagedParams)",
     260, Work::kMixer, kPrefillOnly}};
constexpr Row kGlobal[] = {
    {"void flashinfer::BatchDecodeWithPagedKVCacheKernel<Causal, 2u, 8u, 32u, __nv_bfloat16>("
     "flashinfer::BatchDecodeParams)",
     240, Work::kMixer, kDecodeOnly},
    {"void flashinfer::PersistentVariableLengthMergeStatesKernel<512u, 8u, __nv_bfloat16>(float*)",
     30, Work::kMixer, kDecodeOnly},
    {"void flashinfer::BatchPrefillWithPagedKVCacheKernel<Causal, 512u, __nv_bfloat16>("
     "flashinfer::BatchPrefillPagedParams)",
     420, Work::kMixer, kPrefillOnly}};
constexpr Row kGemmaClose[] = {
    {kGemmOut, 100, Work::kGemm},
    {kOneShotReduce, 80, Work::kReduce, kTp},
    {"_gemma_rmsnorm_residual_kernel", 46, Work::kNorm},
    {kGemmaNorm, 38, Work::kNorm},
    {kGemmUp, 120, Work::kGemm},
    {"void flashinfer::activation::act_and_mul_kernel<__nv_bfloat16, gelu_tanh>(__nv_bfloat16*, "
     "__nv_bfloat16 const*, int)",
     30, Work::kFfn},
    {kGemmDown, 90, Work::kGemm},
    {"_gemma4_routing_kernel", 44, Work::kFfn},
    {kMoeAlign, 42, Work::kFfn},
    {kFusedMoe, 330, Work::kFfn},
    {"void flashinfer::activation::act_and_mul_kernel<__nv_bfloat16, gelu_tanh>(__nv_bfloat16*, "
     "__nv_bfloat16 const*, int)",
     30, Work::kFfn},
    {kFusedMoe, 220, Work::kFfn},
    {kMoeSum, 44, Work::kFfn},
    {kOneShotReduce, 80, Work::kReduce, kTp},
    {"_gemma_dual_rmsnorm_residual_kernel", 52, Work::kNorm}};

std::vector<Block> GemmaLayer(Rows mixer) {
  return {{kGemmaOpen, mixer, kGemmaClose}};
}

constexpr Row kHyHead[] = {
    {kGather, 60, Work::kEmbed}, {kOneShotReduce, 70, Work::kReduce, kTp}, {kBf16Copy, 40}};
constexpr Row kHyTail[] = {{"_hy4_hc_head_kernel", 60},
                           {kFlashinferNorm, 38, Work::kNorm},
                           {kLmHead, 560, Work::kGemm, kOutsideGraph}};
constexpr Row kHyOpen[] = {{"_ihc_pre_stage1", 56, Work::kNorm},
                           {"_ihc_pre_stage2", 48, Work::kNorm, kAnchor},
                           {kFlashinferNorm, 38, Work::kNorm}};
constexpr Row kHyClose[] = {{"_ihc_post_kernel", 42}};
constexpr Row kHyMla[] = {{kGemmQkv, 130, Work::kGemm},
                          {"fused_qk_layernorm_kernel", 36, Work::kNorm},
                          {kGemmUp, 100, Work::kGemm},
                          {kAbsorbBmm, 60, Work::kGemm},
                          {"set_mla_kv_buffer_kernel", 28, Work::kCache},
                          {kGemmDown, 44, Work::kGemm},
                          {kPagedMqaLogits, 110, Work::kMixer, kDecodeOnly},
                          {kMqaLogits, 190, Work::kMixer, kPrefillOnly},
                          {kTopkTransform, 62},
                          {kSparseMla, 190, Work::kMixer, kDecodeOnly},
                          {kMlaCombine, 40, Work::kMixer, kDecodeOnly},
                          {kSparsePrefill, 300, Work::kMixer, kPrefillOnly},
                          {kAbsorbBmm, 60, Work::kGemm},
                          {"_sigmoid_mul_gate_kernel", 32},
                          {kGemmOut, 110, Work::kGemm},
                          {kOneShotReduce, 80, Work::kReduce, kTp}};
constexpr Row kHyDense[] = {{kGemmUp, 240, Work::kGemm},
                            {"_limited_swiglu_kernel", 34, Work::kFfn},
                            {kGemmDown, 180, Work::kGemm},
                            {kOneShotReduce, 80, Work::kReduce, kTp}};
constexpr Row kHyMoe[] = {{kRouterGemm, 46, Work::kGemm},
                          {kGemmUp, 70, Work::kGemm, kSide},
                          {"_limited_swiglu_kernel", 26, Work::kFfn, kSide},
                          {kGemmDown, 60, Work::kGemm, kSide},
                          {kRouteTopk, 40, Work::kFfn},
                          {kMoeAlign, 42, Work::kFfn},
                          {kFusedMoe, 380, Work::kFfn},
                          {"_limited_swiglu_kernel", 38, Work::kFfn},
                          {kFusedMoe, 250, Work::kFfn},
                          {kMoeSum, 45, Work::kFfn},
                          {kOneShotReduce, 80, Work::kReduce, kTp}};

std::vector<Block> HyLayer(Rows ffn) {
  return {{kHyOpen, kHyMla, kHyClose}, {kHyOpen, ffn, kHyClose}};
}

}  // namespace

const Family& Gemma4() {
  static const Family family = {
      .name = "gemma4",
      .profile = "gemma4",
      .anchor = "_gemma_qkv_rmsnorm_kernel",
      .model_class = "Gemma4ForConditionalGeneration",
      .layer_class = "Gemma4DecoderLayer",
      .mixer_class = "Gemma4Attention",
      .ffn_class = "Gemma4MoE",
      .layers = 30,
      .prelude = {},
      .head = kGemmaHead,
      .tail = kGemmaTail,
      .forms = {{'s', "SWA+MOE", -1, R"("sliding_attention")", GemmaLayer(kSliding)},
                {'f', "FULL+MOE", -1, R"("full_attention")", GemmaLayer(kGlobal)}},
      .prefix = "",
      .cycle = "sssssf",
      .config = {.outer = R"("architectures": ["Gemma4ForConditionalGeneration"],
    "model_type": "gemma4", "dtype": "bfloat16")",
                 .members = R"("model_type": "gemma4_text", "hidden_size": 2816,
    "num_attention_heads": 16, "num_key_value_heads": 8, "num_global_key_value_heads": 2,
    "head_dim": 256, "global_head_dim": 512, "sliding_window": 1024, "intermediate_size": 2112,
    "enable_moe_block": true, "num_experts": 128, "top_k_experts": 8,
    "moe_intermediate_size": 704, "vocab_size": 262144)",
                 .list = LayerList::kWords,
                 .key = "layer_types"}};
  return family;
}

const Family& HyV4() {
  static const Family family = {
      .name = "hy_v4",
      .profile = "hy_v4",
      .anchor = "ihc_pre_stage2",
      .model_class = "HYV4ForCausalLM",
      .layer_class = "HYV4DecoderLayer",
      .mixer_class = "HYV4MLAAttention",
      .ffn_class = "HYV4MoE",
      .layers = 78,
      .prelude = {},
      .head = kHyHead,
      .tail = kHyTail,
      .forms = {{'d', "DSA+DENSE", -1, "", HyLayer(kHyDense)},
                {'m', "DSA+MOE", -1, "", HyLayer(kHyMoe)}},
      .prefix = "d",
      .cycle = "m",
      .config = {.members = R"("architectures": ["HYV4ForCausalLM"], "model_type": "hy_v4",
    "hidden_size": 6144, "num_attention_heads": 64, "num_key_value_heads": 64,
    "q_lora_rank": 2048, "kv_lora_rank": 512, "qk_nope_head_dim": 192, "qk_rope_head_dim": 64,
    "v_head_dim": 256, "index_n_heads": 32, "index_head_dim": 128, "index_topk": 2048,
    "hc_mult": 4, "intermediate_size": 18432, "first_k_dense_replace": $DENSE,
    "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8,
    "moe_intermediate_size": 2048, "num_nextn_predict_layers": 1, "vocab_size": 120832)"}};
  return family;
}

}  // namespace layerscope::gen

// DeepSeek-V4 and V4.1 under SGLang and vLLM: hyper-connections around compressed attention.

#include "bench/gen/family.h"
#include "bench/gen/family_names.h"
#include "bench/gen/kernel_names.h"

namespace layerscope::gen {
namespace {

constexpr Row kPrelude[] = {{"mhc_pre_gemm_sqrsum_tilelang_kernel", 52, Work::kNorm}};

constexpr Row kHead[] = {
    {kGather, 60, Work::kEmbed}, {kOneShotReduce, 70, Work::kReduce, kTp}, {kBf16Copy, 40}};

constexpr Row kTail[] = {{"hc_head_fuse_tilelang_kernel", 64},
                         {kFlashinferNorm, 38, Work::kNorm},
                         {kLmHead, 560, Work::kGemm, kOutsideGraph}};

constexpr Row kOpen[] = {
    {"mhc_pre_big_fuse_tilelang_kernel", 71, Work::kNorm, kAnchor},
    {kFlashinferNorm, 38, Work::kNorm},
};
constexpr Row kMixHalf[] = {{"mhc_post_tilelang_kernel", 44},
                            {"mhc_pre_gemm_sqrsum_tilelang_kernel", 52, Work::kNorm}};
constexpr Row kFfnClose[] = {{"mhc_post_tilelang_kernel", 44}};

constexpr Row kProject[] = {
    {kGroupQuant, 30},
    {kFp8GemmNarrow, 96, Work::kGemm},
    {"fused_q_kv_rmsnorm_kernel", 34, Work::kNorm},
    {kFp8Gemm, 120, Work::kGemm},
    {"fused_norm_rope_inplace_kernel", 41},
};
constexpr Row kC4[] = {
    {"void flash_c4_decode<512l, float, __nv_bfloat16, true>(Compress4DecodeParams)", 48,
     Work::kOther, kDecodeOnly},
    {"void flash_c4_prefill<512l, float, __nv_bfloat16, true>(Compress4PrefillParams)", 72,
     Work::kOther, kPrefillOnly},
    {kFp8GemmNarrow, 60, Work::kGemm},
    {"fused_indexer_q_rope_quant_kernel", 33, Work::kMixer},
    {kHadamard, 30, Work::kOther},
    {kPagedMqaLogits, 110, Work::kMixer, kDecodeOnly},
    {kMqaLogits, 190, Work::kMixer, kPrefillOnly},
    {kTopkTransform, 62, Work::kOther},
};
constexpr Row kC128[] = {
    {"void flash_c128_decode<512l, float, __nv_bfloat16, true>(Compress128DecodeParams)", 50,
     Work::kOther, kDecodeOnly},
    {"void flash_c128_prefill<512l, float, __nv_bfloat16, true>(Compress128PrefillParams)", 75,
     Work::kOther, kPrefillOnly},
};
constexpr Row kAttend[] = {
    {"_set_k_and_s_triton_kernel", 28, Work::kCache},
    {kSparseMla, 210, Work::kMixer, kDecodeOnly},
    {kMlaCombine, 40, Work::kMixer, kDecodeOnly},
    {kSparsePrefill, 320, Work::kMixer, kPrefillOnly},
    {"fused_inv_rope_fp8_quant_kernel", 30},
    {kFp8Gemm, 90, Work::kGemm},
    {kFp8Gemm, 120, Work::kGemm},
    {kOneShotReduce, 80, Work::kReduce, kTp},
};
constexpr Row kRoute[] = {{kRouterGemm, 46, Work::kGemm}, {"topk_softplus_kernel", 36, Work::kFfn}};
constexpr Row kHash[] = {{"hash_topk_kernel", 24, Work::kFfn}};
constexpr Row kExperts[] = {
    {kGroupQuant, 28, Work::kOther, kSide},
    {kFp8Gemm, 70, Work::kGemm, kSide},
    {"silu_mul_clamp_quant_kernel", 30, Work::kFfn, kSide},
    {kFp8Gemm, 60, Work::kGemm, kSide},
    {"ep_scatter_kernel", 44, Work::kFfn},
    {kFp8GroupedGemm, 340, Work::kFfn},
    {"silu_mul_clamp_masked_quant_kernel", 52, Work::kFfn},
    {kFp8GroupedGemm, 230, Work::kFfn},
    {"ep_gather_kernel", 45, Work::kFfn},
    {kOneShotReduce, 80, Work::kReduce, kTp},
};

std::vector<Block> Layer(Rows compressor, Rows routing) {
  return {{kOpen, kProject, compressor, kAttend, kMixHalf}, {kOpen, routing, kExperts, kFfnClose}};
}

// V4.1 under vLLM: the pre-mix was computed by the half before, so nothing is fused across.
constexpr Row kOpen41[] = {{"mhc_pre_big_fuse_with_norm_tilelang_kernel", 74, Work::kNorm}};
constexpr Row kMixHalf41[] = {{"mhc_fused_tilelang_kernel", 58, Work::kNorm}};
constexpr Row kPrelude41[] = {
    {"mhc_pre_gemm_sqrsum_tilelang_kernel", 52, Work::kNorm, kFirstLayer}};
constexpr Row kClose41[] = {{"mhc_fused_tilelang_kernel", 58, Work::kNorm, kNotLastLayer}};
// What the last layer has instead stands in no sibling, so it is no layer's.
constexpr Row kTail41[] = {{"mhc_post_tilelang_kernel", 44},
                           {"hc_head_fuse_tilelang_kernel", 64},
                           {kFlashinferNorm, 38, Work::kNorm},
                           {kLmHead, 560, Work::kGemm, kOutsideGraph}};
constexpr Row kSource[] = {
    {kFp8GemmNarrow, 60, Work::kGemm},
    {"_compress_kv_c2_kernel", 51},
};
constexpr Row kIndexer[] = {
    {kFp8GemmNarrow, 52, Work::kGemm},
    {kHadamard, 30},
    {kPagedMqaLogits, 110, Work::kMixer, kDecodeOnly},
    {kMqaLogits, 190, Work::kMixer, kPrefillOnly},
    {kTopkTransform, 62},
};
constexpr Row kEngram[] = {{"_engram_hash_gather_kernel", 66},
                           {kGemmQkv, 70, Work::kGemm},
                           {"_engram_gate_conv_kernel", 45}};

std::vector<Block> Layer41(Rows engram, Rows source, Rows index) {
  return {{kOpen41, engram, kProject, source, index, kAttend, kMixHalf41},
          {kOpen41, kRoute, kExperts, kClose41}};
}

}  // namespace

const Family& DeepseekV4() {
  static const Family family = {.name = "dsv4_csa_hca",
                                .profile = "dsv4_csa_hca",
                                .anchor = "mhc_pre_big_fuse",
                                .model_class = "DeepseekV4ForCausalLM",
                                .layer_class = "DeepseekV4DecoderLayer",
                                .mixer_class = "MQALayer",
                                .ffn_class = "DeepseekV4MoE",
                                .layers = 43,
                                .prelude = kPrelude,
                                .head = kHead,
                                .tail = kTail,
                                .forms = {{'s', "SWA_ONLY+HASH+MOE", 0, "0", Layer({}, kHash)},
                                          {'w', "SWA_ONLY+MOE", 0, "0", Layer({}, kRoute)},
                                          {'h', "CSA_C4+HASH+MOE", 4, "4", Layer(kC4, kHash)},
                                          {'c', "CSA_C4+MOE", 4, "4", Layer(kC4, kRoute)},
                                          {'k', "HCA_C128+MOE", 128, "128", Layer(kC128, kRoute)}},
                                .prefix = "ssh",
                                .cycle = "kc",
                                .config = {.members = R"("architectures": ["DeepseekV4ForCausalLM"],
    "model_type": "deepseek_v4", "hidden_size": 4096, "head_dim": 512, "num_attention_heads": 64,
    "num_key_value_heads": 1, "q_lora_rank": 1024, "o_lora_rank": 1024, "qk_rope_head_dim": 64,
    "sliding_window": 128, "index_n_heads": 64, "index_head_dim": 128, "index_topk": 512,
    "hc_mult": 4, "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 6,
    "moe_intermediate_size": 2048, "num_hash_layers": $HASH, "num_nextn_predict_layers": 1,
    "vocab_size": 129280, "torch_dtype": "bfloat16")",
                                           .list = LayerList::kWords,
                                           .key = "compress_ratios",
                                           .surplus_words = 1,
                                           .surplus_word = "0"}};
  return family;
}

const Family& DeepseekV41() {
  static const Family family = {
      .name = "dsv41",
      .profile = "dsv41",
      .anchor = "topk_softplus_kernel",
      .model_class = "DeepseekV41ForCausalLM",
      .layer_class = "DeepseekV41DecoderLayer",
      .mixer_class = "DeepseekV41Attention",
      .ffn_class = "DeepseekV41MoE",
      .layers = 40,
      .prelude = kPrelude41,
      .head = kHead,
      .tail = kTail41,
      .forms = {{'s', "SWA_ONLY+MOE", 0, "0", Layer41({}, {}, {})},
                {'e', "SWA_ONLY+MOE", 0, "0", Layer41(kEngram, {}, {})},
                {'S', "V41_C2+MOE", 2, "2", Layer41({}, kSource, kIndexer)},
                {'E', "V41_C2+MOE", 2, "2", Layer41(kEngram, kSource, kIndexer)},
                {'2', "V41_C2+MOE", 2, "2", Layer41({}, {}, {})},
                {'C', "V41_C1+MOE", 1, "1", Layer41({}, kSource, kIndexer)},
                {'I', "V41_C1+MOE", 1, "1", Layer41({}, {}, kIndexer)},
                {'1', "V41_C1+MOE", 1, "1", Layer41({}, {}, {})}},
      // Sources 2, 8, 14, 20; the index is made again at 24, 28, …; Engram in 1 and 14.
      .prefix = "seS22222S22222E22222C111",
      .cycle = "I111",
      .config = {.outer = R"("architectures": ["DeepseekV41ForConditionalGeneration"],
    "model_type": "deepseek_v41")",
                 .members = R"("model_type": "deepseek_v41_text", "hidden_size": 5120,
    "head_dim": 512, "num_attention_heads": 64, "num_key_value_heads": 1, "q_lora_rank": 1280,
    "o_lora_rank": 1024, "qk_rope_head_dim": 64, "sliding_window": 128, "index_n_heads": 64,
    "index_head_dim": 128, "index_topk": 512, "hc_mult": 4, "n_routed_experts": 384,
    "n_shared_experts": 1, "num_experts_per_tok": 6, "moe_intermediate_size": 2048,
    "kv_source_layer_ids": [2, 8, 14, 20], "index_source_layer_ids": [2, 8, 14, 20, 24, 28, 32, 36],
    "candidate_source_layer_id": 20, "engram_layer_ids": [1, 14], "vocab_size": 129280)",
                 .list = LayerList::kWords,
                 .key = "compress_ratios"}};
  return family;
}

}  // namespace layerscope::gen

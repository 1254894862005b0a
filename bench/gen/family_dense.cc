// Dense and mixture-of-experts decoders with plain residual norms, Gemma-4, Hy4 and an encoder.

#include "bench/gen/family.h"
#include "bench/gen/family_names.h"
#include "bench/gen/kernel_names.h"

namespace layerscope::gen {
namespace {

constexpr Row kHead[] = {{kGather, 60, Work::kEmbed}, {kOneShotReduce, 70, Work::kReduce, kTp}};
constexpr Row kTail[] = {{kFusedAddRmsNorm, 45, Work::kNorm, kAnchor},
                         {kLmHead, 560, Work::kGemm, kOutsideGraph}};

constexpr Row kInputNorm[] = {
    {kRmsNorm, 38, Work::kNorm, kFirstLayer | kAnchor},
    {kFusedAddRmsNorm, 45, Work::kNorm, kNotFirstLayer | kNotTpFused | kAnchor},
    {kLamportReduceNorm, 120, Work::kNorm, kNotFirstLayer | kTpFused | kAnchor | kReduces}};
constexpr Row kMiddleNorm[] = {
    {kFusedAddRmsNorm, 45, Work::kNorm, kNotTpFused | kAnchor},
    {kLamportReduceNorm, 120, Work::kNorm, kTpFused | kAnchor | kReduces}};
constexpr Row kReduceMixer[] = {{kOneShotReduce, 80, Work::kReduce, kTpPlain}};
// The last layer's all-reduce has no norm of a next layer to be fused with.
constexpr Row kReduceFfn[] = {{kOneShotReduce, 80, Work::kReduce, kTpPlain},
                              {kOneShotReduce, 80, Work::kReduce, kTpFused | kLastLayer}};

constexpr Row kQkv[] = {{kGemmQkv, 120, Work::kGemm}};
constexpr Row kHeadNorms[] = {{kRmsNorm, 30, Work::kNorm}, {kRmsNorm, 26, Work::kNorm}};
constexpr Row kRope[] = {{kRotary, 24}, {kReshapeAndCache, 26, Work::kCache}};
constexpr Row kFlash[] = {{kFlashDecode, 210, Work::kMixer, kDecodeOnly},
                          {kFlashCombine, 36, Work::kMixer, kDecodeOnly},
                          {kFlashPrefill, 380, Work::kMixer, kPrefillOnly}};
constexpr Row kOut[] = {{kGemmOut, 100, Work::kGemm}};
constexpr Row kMlp[] = {
    {kGemmUp, 240, Work::kGemm}, {kSiluAndMul, 34, Work::kFfn}, {kGemmDown, 180, Work::kGemm}};

// gpt-oss under vLLM on a B200.
constexpr Row kSliding[] = {
    {"fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvSlidingOrChunkedCausalP16VarSeqQ128Kv128Persistent"
     "Context",
     130, Work::kMixer}};
constexpr Row kCausal[] = {
    {"fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext", 260,
     Work::kMixer}};
constexpr Row kTrtMoe[] = {
    {kRouterGemm, 46, Work::kGemm},
    {"void tensorrt_llm::kernels::quantize_with_block_size<(tensorrt_llm::"
     "BlockScaleQuantizationType)2, __nv_bfloat16, 32, true>(int, int, int, int, __nv_bfloat16 "
     "const*, float const*, unsigned int*, unsigned int*, flashinfer::QuantizationSFLayout)",
     31},
    {"void moe::dev::routing::routingRenormalize::routingIndicesHistogramScoresKernel<moe::dev::"
     "routing::routingRenormalize::KernelParams<__nv_bfloat16, __nv_bfloat16, 128, false, true, "
     "true> >(moe::dev::routing::routingRenormalize::KernelParams<__nv_bfloat16>)",
     40, Work::kFfn},
    {"void moe::dev::routing::routingIndicesOffsetsKernel<moe::dev::routing::routingRenormalize::"
     "KernelParams<__nv_bfloat16, __nv_bfloat16, 128, false, true, true> >(moe::dev::routing::"
     "routingRenormalize::KernelParams<__nv_bfloat16>)",
     36, Work::kFfn},
    {"bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_cga1x1x1_16dp256b_rM_TN_"
     "transOut_schedP2x1x2x3_biasM_bN_tma_tmaOpt_clmp_swiGlu_dynBatch_sm100f",
     310, Work::kFfn},
    {"bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_cga1x1x1_16dp256b_rM_TN_"
     "transOut_schedP2x1x2x3_biasM_bN_tmaOpt_clmp_dynBatch_sm100f",
     210, Work::kFfn},
    {"void moe::dev::finalize::finalizeKernelVecLoad<moe::dev::finalize::KernelParams<cutlass::"
     "bfloat16_t, cutlass::bfloat16_t, 4, true> >(moe::dev::finalize::KernelParams<cutlass::"
     "bfloat16_t, cutlass::bfloat16_t, 4, true>)",
     44, Work::kFfn},
};
constexpr Row kFusedExperts[] = {{kRouterGemm, 46, Work::kGemm}, {kRouteTopk, 40, Work::kFfn},
                                 {kMoeAlign, 42, Work::kFfn},    {kFusedMoe, 380, Work::kFfn},
                                 {kSiluMul, 38, Work::kFfn},     {kFusedMoe, 250, Work::kFfn},
                                 {kMoeSum, 45, Work::kFfn}};

std::vector<Block> Decoder(Rows head_norms, Rows mixer, Rows ffn) {
  return {{kInputNorm, kQkv, head_norms, kRope, mixer, kOut, kReduceMixer},
          {kMiddleNorm, ffn, kReduceFfn}};
}

// SGLang's Qwen3 on an MI300X.
constexpr std::string_view kAiterNorm =
    "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0ELb0ELb1ELi1EEEvPT0_PT_PfS4_S4_S4_"
    "diiiiiiib";
constexpr std::string_view kAiterAddNorm =
    "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb1ELb0ELb1ELi1EEEvPT0_PT_PfS4_S4_S4_"
    "diiiiiiib";
constexpr std::string_view kAiterHeadNorm =
    "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi64ELi8ELb0ELb0ELb1ELi1EEEvPT0_PT_PfS4_S4_S4_"
    "diiiiiiib";
constexpr Row kAmdNorm[] = {{kAiterNorm, 38, Work::kNorm, kFirstLayer | kAnchor},
                            {kAiterAddNorm, 45, Work::kNorm, kNotFirstLayer | kAnchor}};
constexpr Row kAmdMiddleNorm[] = {{kAiterAddNorm, 45, Work::kNorm, kAnchor}};
constexpr Row kAmdAttention[] = {
    {"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x32x256_MI16x16x1_SN_LDSB1", 130,
     Work::kGemm},
    {kAiterHeadNorm, 30, Work::kNorm},
    {kAiterHeadNorm, 26, Work::kNorm},
    {kRotary, 24},
    {kStoreCache, 26, Work::kCache},
    {"void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16, __hip_bfloat16, (vllm::"
     "Fp8KVCacheDataType)0, 1, 128, 256, false, 4, 1, ck_tile::ComposedAttention<0u, false> >("
     "__hip_bfloat16 const*)",
     220, Work::kMixer, kDecodeOnly},
    {"void paged_attention_ll4mi_reduce_kernel<__hip_bfloat16, __hip_bfloat16, 128, 128, 256, 3, "
     "false>(__hip_bfloat16*, float const*)",
     40, Work::kMixer, kDecodeOnly},
    {"_ZN7ck_tile6kentryILi2ENS_38FmhaBatchPrefillWithPagedKVCacheKernelINS_40BlockFmhaBatchPrefill"
     "PipelineQRKSVSAsyncEEEEvT1_",
     400, Work::kMixer, kPrefillOnly},
    {"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT16x32x512_MI16x16x1_SN_LDSB1", 100,
     Work::kGemm},
    {"void aiter::cross_device_reduce_1stage<__hip_bfloat16, 8>(aiter::RankData*)", 80,
     Work::kReduce, kTp},
};
constexpr Row kAmdMlp[] = {
    {"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x32x64_MI16x16x1_SN_LDSB1", 250,
     Work::kGemm},
    {"_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4siluIS2_ES3_S5"
     "_EEEEvPS3_PS4_i",
     34, Work::kFfn},
    {"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT32x32x256_MI16x16x1_SN_LDSB1", 190,
     Work::kGemm},
    {"void aiter::cross_device_reduce_1stage<__hip_bfloat16, 8>(aiter::RankData*)", 80,
     Work::kReduce, kTp},
};
constexpr Row kAmdTail[] = {
    {kAiterAddNorm, 45, Work::kNorm, kAnchor},
    {"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT448x32x64_MI16x16x1_SN_LDSB1", 560,
     Work::kGemm, kOutsideGraph}};

// A post-norm encoder: no norm opens a layer, one closes each half.
constexpr std::string_view kAddLayerNorm =
    "void fastertransformer::generalAddBiasResidualLayerNormOpt<__half2, 2, false>(__half2*)";
constexpr Row kEncoderHead[] = {{kGather, 50, Work::kEmbed}, {kAddLayerNorm, 44, Work::kNorm}};
constexpr Row kEncoderAttention[] = {
    {kGemmQkv, 120, Work::kGemm},
    {"fmha_cutlassF_f16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel)", 240,
     Work::kMixer},
    {kGemmOut, 100, Work::kGemm},
    {kAddLayerNorm, 44, Work::kNorm}};
constexpr Row kEncoderFfn[] = {
    {kGemmUp, 240, Work::kGemm},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(at::"
     "TensorIteratorBase&)::{lambda(c10::Half)#1}, std::array<char*, 2ul> >(int)",
     40, Work::kFfn},
    {kGemmDown, 180, Work::kGemm},
    {kAddLayerNorm, 44, Work::kNorm}};
constexpr Row kEncoderTail[] = {{kGemmDown, 60, Work::kGemm}, {kBf16Copy, 30}};

constexpr std::string_view kQwen3 = R"("architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3", "hidden_size": 4096, "num_attention_heads": 32,
    "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 12288, "vocab_size": 151936,
    "torch_dtype": "bfloat16")";

Family QwenLike(std::string_view name, std::vector<Form> forms, std::string_view cycle) {
  return {.name = name,
          .profile = "generic_addnorm",
          .anchor = "act_and_mul_kernel",
          .model_class = "Qwen3ForCausalLM",
          .layer_class = "Qwen3DecoderLayer",
          .mixer_class = "Qwen3Attention",
          .ffn_class = "Qwen2MLP",
          .layers = 36,
          .prelude = {},
          .head = kHead,
          .tail = kTail,
          .forms = std::move(forms),
          .prefix = "",
          .cycle = cycle,
          .config = {.members = kQwen3}};
}

}  // namespace

const Family& Dense() {
  static const Family family =
      QwenLike("dense", {{'d', "FULL", -1, "", Decoder(kHeadNorms, kFlash, kMlp)}}, "d");
  return family;
}

const Family& DenseAmd() {
  static const Family family = [] {
    Family made = QwenLike(
        "dense_amd",
        {{'d', "FULL", -1, "", {{kAmdNorm, kAmdAttention}, {kAmdMiddleNorm, kAmdMlp}}}}, "d");
    made.anchor = "add_rmsnorm_quant_kernelIDF16bDF16bLi256E";
    made.tail = kAmdTail;
    return made;
  }();
  return family;
}

const Family& Generic() {
  static const Family family = [] {
    Family made = QwenLike("generic", {{'d', "FULL", -1, "", Decoder({}, kFlash, kMlp)}}, "d");
    made.profile = "generic";
    made.anchor = "rms_norm_kernel";
    made.model_class = "LlamaForCausalLM";
    made.layer_class = "LlamaDecoderLayer";
    made.mixer_class = "LlamaAttention";
    made.ffn_class = "LlamaMLP";
    made.layers = 32;
    made.has_config = false;
    return made;
  }();
  return family;
}

const Family& AlternatingMoe() {
  static const Family family = [] {
    Family made = QwenLike("alternating_moe",
                           {{'d', "FULL+DENSE", -1, "", Decoder(kHeadNorms, kFlash, kMlp)},
                            {'m', "FULL+MOE", -1, "", Decoder(kHeadNorms, kFlash, kFusedExperts)}},
                           "dm");
    made.model_class = "Qwen3MoeForCausalLM";
    made.layer_class = "Qwen3MoeDecoderLayer";
    made.config.members = R"("architectures": ["Qwen3MoeForCausalLM"],
    "model_type": "qwen3_moe", "hidden_size": 2048, "num_attention_heads": 32,
    "num_key_value_heads": 4, "head_dim": 128, "intermediate_size": 6144, "num_experts": 128,
    "num_experts_per_tok": 8, "moe_intermediate_size": 768, "decoder_sparse_step": 2,
    "mlp_only_layers": [], "vocab_size": 151936, "torch_dtype": "bfloat16")";
    return made;
  }();
  return family;
}

const Family& GptOss() {
  static const Family family = [] {
    Family made =
        QwenLike("generic_addnorm",
                 {{'s', "SWA+MOE", -1, R"("sliding_attention")", Decoder({}, kSliding, kTrtMoe)},
                  {'f', "FULL+MOE", -1, R"("full_attention")", Decoder({}, kCausal, kTrtMoe)}},
                 "sf");
    made.anchor = "/rms_norm_kernel|oneshot_lamport/";
    made.model_class = "GptOssForCausalLM";
    made.layer_class = "TransformerBlock";
    made.mixer_class = "OAIAttention";
    made.ffn_class = "MLPBlock";
    made.config = {.members = R"("architectures": ["GptOssForCausalLM"],
    "model_type": "gpt_oss", "hidden_size": 2880, "num_attention_heads": 64,
    "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 2880, "num_local_experts": 128,
    "num_experts_per_tok": 4, "experts_per_token": 4, "sliding_window": 128,
    "vocab_size": 201088)",
                   .list = LayerList::kWords,
                   .key = "layer_types"};
    return made;
  }();
  return family;
}

const Family& PostNorm() {
  static const Family family = [] {
    Family made =
        QwenLike("post_norm", {{'e', "FULL", -1, "", {{kEncoderAttention}, {kEncoderFfn}}}}, "e");
    made.profile = "generic";
    made.anchor = "LayerNorm";
    made.model_class = "BertModel";
    made.layer_class = "BertLayer";
    made.mixer_class = "BertSelfAttention";
    made.ffn_class = "BertIntermediate";
    made.layers = 12;
    made.head = kEncoderHead;
    made.tail = kEncoderTail;
    made.has_config = false;
    return made;
  }();
  return family;
}

}  // namespace layerscope::gen

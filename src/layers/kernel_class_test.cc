#include "src/layers/kernel_class.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace layerscope::layers {
namespace {

// Kernel names as real CUDA, ROCm, Triton and Inductor traces spell them; classes read by hand.

void ExpectAll(KernelClass kind, const std::vector<std::string_view>& names) {
  for (const std::string_view name : names) EXPECT_EQ(ClassifyKernel(name).kind, kind) << name;
}

TEST(KernelClass, AttentionOfAllBackendsMixes) {
  ExpectAll(KernelClass::kMixer,
            {"void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128> >(Flash_fwd_params)",
             "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<"
             "flash::CollectiveMainloopFwdSm90<2, int> > > >(P)",
             "fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext",
             "void flashinfer::BatchDecodeWithPagedKVCacheKernel<x>(y)", "kernel_mha",
             "kernel_unified_attention_2d", "void paged_attention_ll4mi_QKV_mfma16_kernel<x>(y)",
             "void flash_fwd_splitkv_mla_kernel<x>(y)", "_fwd_grouped_kernel_stage1", "_fwd_kernel",
             "fused_recurrent_gated_delta_rule_fwd_kernel", "chunk_kda_fwd_kernel_o",
             "void selective_scan_fwd_kernel<x>(y)"});
  EXPECT_TRUE(ClassifyKernel("_selective_scan_update_kernel").state_space);
}

TEST(KernelClass, WhatOnlySomeLayersHaveIsAHelper) {
  ExpectAll(KernelClass::kMixerHelper,
            {"reduce_segments", "void paged_attention_ll4mi_reduce_kernel<x>(y)",
             "void flash_fwd_splitkv_combine_kernel<x>(y)", "_fwd_kernel_stage2",
             "void flashinfer::PersistentVariableLengthMergeStatesKernel<x>(y)",
             "void deep_gemm::sm90_fp8_paged_mqa_logits<x>(y)",
             "void fast_hadamard_transform_kernel<x>(y)", "_causal_conv1d_update_kernel"});
}

TEST(KernelClass, CacheWritesGiveWayToAttentionWords) {
  ExpectAll(KernelClass::kCacheWrite,
            {"void vllm::reshape_and_cache_flash_kernel<x>(y)", "store_kvcache",
             "void vllm::concat_and_cache_mla_kernel<x>(y)",
             "void tensorrt_llm::kernels::applyBiasRopeUpdateKVCacheV2<x>(y)"});
  ExpectAll(KernelClass::kMixer,
            {"_ZN7ck_tile6kentryILi1ENS_36FmhaBatchPrefillWithPagedKVCacheKernelE"
             "NS_4sss_EEEvT0_"});
}

TEST(KernelClass, ExpertsAndActivationsAreFfn) {
  ExpectAll(KernelClass::kFfn,
            {"void vllm::act_and_mul_kernel<x>(y)", "triton_poi_fused__unsafe_view_mul_silu_2",
             "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", "_sum_bitmatrix_rows",
             "void moe::dev::routing::routingIndicesHistogramKernel<x>(y)", "fused_moe_kernel",
             "bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2", "relu_squared_kernel",
             "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::"
             "silu_kernel(at::TensorIteratorBase&)::{lambda(c10::BFloat16)#1}, std::array<char*, "
             "2ul> >(int)"});
  EXPECT_TRUE(ClassifyKernel("fused_moe_kernel").experts);
  EXPECT_FALSE(ClassifyKernel("void vllm::act_and_mul_kernel<x>(y)").experts);
}

TEST(KernelClass, ABareTopKIsNoFfn) {
  ExpectAll(KernelClass::kOther, {"_topk_forward", "void topk_transform_decode_kernel<x>(y)"});
}

TEST(KernelClass, NormsOfAllKinds) {
  ExpectAll(KernelClass::kNorm,
            {"void vllm::rms_norm_kernel<c10::BFloat16, 8, 2>(c10::BFloat16*)",
             "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb1ELb0ELb1ELi1EEEvPT0_",
             "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_5",
             "void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(x)",
             "mhc_pre_big_fuse_kernel", "attn_res_fused_kernel", "_ihc_pre_stage1"});
  EXPECT_TRUE(ClassifyKernel("at::native::vectorized_layer_norm_kernel").layer_norm);
}

TEST(KernelClass, NormsInsideTheAttentionOpenNothing) {
  ExpectAll(KernelClass::kInnerNorm,
            {"fusedQKNormRopeKernel", "_gemma_qkv_rmsnorm_kernel", "l2norm_fwd_kernel",
             "_layer_norm_fwd_1pass_kernel", "layer_norm_gated_fwd_kernel",
             "triton_per_fused_add_mean_mul_pow_rsqrt_silu_3"});
  ExpectAll(KernelClass::kOther,
            {"mhc_pre_gemm_sqrsum_kernel", "mhc_post_tilelang_kernel", "ihc_pre_stage2"});
}

TEST(KernelClass, AnAllReduceFusedWithANormIsANorm) {
  const KernelTraits fused = ClassifyKernel(
      "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<("
      "flashinfer::trtllm_allreduce_fusion::AllReduceFusionPattern)1, __nv_bfloat16, 8>(x)");
  EXPECT_EQ(fused.kind, KernelClass::kNorm);
  EXPECT_TRUE(fused.fused_communication);
  ExpectAll(KernelClass::kCommunication,
            {"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<("
             "flashinfer::trtllm_allreduce_fusion::AllReduceFusionPattern)0, __nv_bfloat16, 8>(x)",
             "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(x)",
             "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
             "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(vllm::RankData*)"});
}

TEST(KernelClass, GemmsOfAllLibraries) {
  ExpectAll(KernelClass::kGemm,
            {"nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT",
             "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x32x256",
             "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64",
             "ampere_bf16_s16816gemm_bf16_128x64_ldg8_relu_f2f_stages_64x5_tn",
             "void deep_gemm::sm90_fp8_gemm_1d2d_impl<0u, 4096u>(x)", "triton_tem_fused_mm_3"});
}

TEST(KernelClass, OpsOfEagerNorms) {
  EXPECT_EQ(ClassifyKernel("void at::native::vectorized_elementwise_kernel<4, at::native::"
                           "rsqrt_kernel_cuda(x)::{lambda(float)#1}, std::array<char*, 2ul> >(int)")
                .op,
            EagerOp::kRsqrt);
}

TEST(KernelClass, BackwardAndOptimizerKernels) {
  EXPECT_TRUE(ClassifyKernel("void at::native::layer_norm_grad_input_kernel<x>(y)").backward);
  EXPECT_FALSE(ClassifyKernel("void fast_hadamard_transform_kernel<x>(y)").backward);
}

TEST(KernelClass, OddNamesAreOther) {
  ExpectAll(KernelClass::kOther, {"", "<", "_ZN", "kernel_7", "<<<>>>", "::"});
}

}  // namespace
}  // namespace layerscope::layers

// What the universal rules say of names whose meaning is known. Names and their meaning come from
// the rows of formats/profiles.md, from real traces, and from the source projects named in each
// test; what they should be called was decided by hand from what the kernel does there.
#include <gtest/gtest.h>

#include <array>

#include "tests/support/judged_names.h"

namespace layerscope::model {
namespace {

// The rows marked "universal" of formats/profiles.md.
TEST(UniversalRules, KnowTheSharedTable) {
  ExpectAll(std::to_array<JudgedName>({
      {"communication",
       "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"},
      {"communication", "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)"},
      {"communication", "my_Reduce_Scatter"},
      {"communication", "allreduce_fusion_kernel_oneshot_lamport"},
      {"gemm_fp8", "void deep_gemm::sm90_fp8_gemm_1d2d_impl<1u>(float*)"},
      {"gemm_fp8", "nvjet_qqtst_128x256_128x6_2x1_v_bz_TNT"},
      {"gemm_bf16", "nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT"},
      {"rmsnorm", "void vllm::rms_norm_kernel<c10::BFloat16, 8, 2>(c10::BFloat16*)"},
      {"rmsnorm", "void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(int)"},
      {"rmsnorm",
       "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>(int)"},
      {"quant", "void vllm::scaled_fp8_quant_kernel_strided<c10::BFloat16>(int)"},
      {"quant", "per_token_group_Quant_8bit_kernel"},
      {"topk", "void vllm::moe::topkGatingSoftmax<8, 128>(float const*)"},
      {"topk", "_topk_forward"},
      {"rope", "deepseek_rope_kernel"},
      {"rope", "fused_norm_rope_kernel"},
      {"rope", "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)"},
      {"activation", "silu_mul_clamp_kernel"},
      {"activation", "void vllm::act_and_mul_kernel<c10::BFloat16>(int)"},
      {"other", "saxpy(double *, double *, double *, double, int)"},
  }));
}

TEST(UniversalRules, GiveTheTablesGroups) {
  for (const auto& category : Universal().categories()) {
    if (category.name.starts_with("gemm")) {
      EXPECT_EQ(category.group, "GEMM");
    }
    if (category.name == "communication") {
      EXPECT_EQ(category.group, "NCCL");
    }
    if (category.name == "rmsnorm" || category.name == "quant" || category.name == "rope") {
      EXPECT_EQ(category.group, "other");
    }
  }
  EXPECT_EQ(Universal().categories().back().name, "other");
}

// The false matches that formats/profiles.md and their projects' names invite.
TEST(UniversalRules, AvoidFalseMatches) {
  ExpectAll(std::to_array<JudgedName>({
      // vllm/csrc/cache_kernels.cu: writes the cache
      {"kv_cache", "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, unsigned char>(int)"},
      {"kv_cache", "_C::cpu_attn_reshape_and_cache"},
      // flashinfer/include/flashinfer/sampling.cuh
      {"sampling",
       "void flashinfer::sampling::TopKTopPSamplingFromProbKernel<1024u, float, int>(float*)"},
      // FlashAttention 2: CUTLASS stands in its template arguments only
      {"attention",
       "void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4, false, "
       "false, "
       "cutlass::bfloat16_t>, true, false>(flash::Flash_fwd_params)"},
      // ck_tile and FlashInfer: "KVCache" inside the name of attention
      {"attention",
       "_ZN7ck_tile6kentryILi2ENS_38FmhaBatchPrefillWithPagedKVCacheKernelINS_40BlockFmha"},
      {"attention",
       "void flashinfer::BatchPrefillWithPagedKVCacheKernel<flashinfer::KernelTraits<1>>(int)"},
      {"attention",
       "fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext"},
      // deep_gemm/include/deep_gemm/impls/sm90_fp8_paged_mqa_logits.cuh
      {"paged_mqa", "void deep_gemm::sm90_fp8_paged_mqa_logits<1u, 64u>(unsigned int)"},
      // SGLang K3: a residual stream over layers, no attention
      {"residual", "attn_res_fused"},
      // fbgemm_gpu holds "gemm"
      {"embedding", "void fbgemm_gpu::permute_2D_data_kernel<false, int>(int)"},
      // vLLM on ROCm: "unquantized"
      {"gemm", "vllm::rocm_unquantized_gemm"},
      // MIOpen: implicit GEMM is a convolution
      {"convolution", "igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt32x256x32_wt16x64x4_ws1x1"},
      // Inductor: a pad that came from an op beside the MoE, and a norm after an all-reduce
      {"copy", "triton_poi_fused_constant_pad_nd_moe_forward_0"},
      {"rmsnorm", "triton_red_fused_add_all_reduce_mean_mul_pow_rsqrt_0"},
      {"elementwise",
       "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
       "at::native::(anonymous "
       "namespace)::masked_fill_kernel(at::TensorIterator&)::{lambda()#1}>>(int)"},
  }));
}

// FlashAttention 2-4, FlashInfer, PyTorch, TensorRT-LLM, vLLM and SGLang Triton, AITER, FlashMLA.
TEST(UniversalRules, KnowAttention) {
  ExpectAll(std::to_array<JudgedName>({
      {"attention", "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Traits<64>>(int)"},
      {"attention",
       "void "
       "cutlass::device_kernel<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2>>>(int)"},
      {"attention",
       "kernel_cutlass_kernel_flash_attncuteflash_fwd_sm100FlashAttentionForwardSm100_object_at__"
       "t"},
      {"attention",
       "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::"
       "CollectiveMainloopFwdSm90<2>>>>(int)"},
      {"attention",
       "void cutlass::device_kernel<flash::enable_sm80_to_sm100<flash::FlashAttnFwdCombine<cute::"
       "tuple<cute::C<8>, cute::C<128>>>>>(int)"},
      {"attention", "kernel_unified_attention_2d"},
      {"attention", "reduce_segments"},
      {"attention", "_fwd_grouped_kernel_stage1"},
      {"attention", "_fwd_kernel"},
      {"attention", "void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16>(int)"},
      {"attention", "attn_fwd"},
      {"attention", "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7"},
      {"attention", "void flashinfer::PersistentVariableLengthMergeStatesKernel<8u>(int)"},
      {"attention", "_ZN5aiter31pa_bf16_noquant_gqa8_1tg_4w_ps_E"},
      {"mla_attention", "_ZN5aiter36mla_a8w8_qh16_qseqlen1_gqaratio16_psE"},
      {"mla_attention", "void flash_fwd_splitkv_mla_kernel<Traits<576, 64>>(Params)"},
      {"mla_attention", "kn_mla_reduce_v1_ps"},
      {"attention", "aten::_scaled_dot_product_flash_attention_for_cpu"},
      {"attention", "vllm::unified_attention_with_output"},
  }));
}

// DType by the letters that each library uses.
TEST(UniversalRules, ReadTheDtypeOfGemms) {
  ExpectAll(std::to_array<JudgedName>({
      {"gemm_bf16",
       "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1"},
      {"gemm_fp16", "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn"},
      {"gemm_fp16", "nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NNT"},
      {"gemm_fp8", "nvjet_sm100_qqtst_128x256_128x6_2x1_2cta_v_bz_bias_TNT"},
      {"gemm_bf16", "nvjet_sm100_tss_32x64_64x16_4x2_2cta_h_bz_splitK_TNN"},
      {"gemm_fp32", "volta_sgemm_128x32_nt"},
      {"gemm_fp32",
       "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_align1>(int)"},
      // Tensile: A/B type, C/D type, compute type (B = bfloat16, H = half, S = single, F8, I8)
      {"gemm_bf16", "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x32x64_MI16x16x1"},
      {"gemm_fp16", "Cijk_Alik_Bljk_HHS_BH_Bias_HA_S_SAV_UserArgs_MT128x128x64_MI16x16x1"},
      {"gemm_fp8", "Cijk_Alik_Bljk_F8BS_BH_Bias_HA_S_SAB_SAV_UserArgs_MT256x256x128"},
      {"gemm", "Cijk_Alik_Bljk_XYZ_MT1x1x1"},
      {"gemm_fp8", "_w8a8_block_fp8_matmul"},
      {"gemm_int8", "_w8a8_block_int8_matmul"},
      {"gemm_fp8", "sm89_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize128x128x64_stage3"},
      {"gemm_bf16",
       "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, "
       "int>, "
       "cutlass::gemm::collective::CollectiveMma<cute::tuple<cute::C<128>, cute::C<64>, "
       "cute::C<64>>, "
       "cutlass::bfloat16_t>>>(int)"},
      {"gemm", "void cublasLt::splitKreduce_kernel<32, 16, int, float>(int)"},
      {"gemm", "void internal::gemvx::kernel<int, int, float, float>(int)"},
      {"gemm", "triton_tem_fused_mm_3"},
      {"gemm", "aten::addmm"},
      {"gemm", "aten::linear"},
  }));
}

// vLLM and SGLang fused_moe, TensorRT-LLM trtllm-gen, triton_kernels, AITER; DeepEP is
// communication.
TEST(UniversalRules, KnowMixtureOfExperts) {
  ExpectAll(std::to_array<JudgedName>({
      {"moe", "fused_moe_kernel"},
      {"moe", "void vllm::moe::moe_align_block_size_kernel<int>(int)"},
      {"moe", "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu"},
      {"moe", "_combined_routing_compute"},
      {"moe", "bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_cga1x1x1"},
      {"moe",
       "void "
       "moe::dev::finalize::finalizeKernelVecLoad<moe::dev::finalize::KernelParams<int>>(int)"},
      {"moe", "void tensorrt_llm::kernels::cutlass_kernels::expandInputRowsKernel<float>(int)"},
      {"moe", "_ZN5aiter24fmoe_bf16_blockscaleFp8_E"},
      {"communication", "void deep_ep::internode_ll::dispatch<true, 7168>(void*)"},
      {"communication", "void deep_ep::intranode::combine<__nv_bfloat16, 8>(void*)"},
      {"communication",
       "void (anonymous namespace)::all_reduce_one_shot_push_kernel<__half, 4u>(int)"},
      {"communication",
       "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16>(int)"},
      {"communication", "vllm::all_gather"},
  }));
}

// state-spaces/mamba, flash-linear-attention, causal-conv1d.
TEST(UniversalRules, KnowLinearAttention) {
  ExpectAll(std::to_array<JudgedName>({
      {"linear_attention", "_selective_scan_update_kernel"},
      {"linear_attention", "_chunk_scan_fwd_kernel"},
      {"linear_attention", "_bmm_chunk_fwd_kernel"},
      {"linear_attention", "_causal_conv1d_update_kernel"},
      {"linear_attention", "fused_recurrent_gated_delta_rule_fwd_kernel"},
      {"linear_attention", "chunk_kda_fwd_kernel_intra"},
  }));
}

TEST(UniversalRules, KnowWhatInductorFused) {
  ExpectAll(std::to_array<JudgedName>({
      {"rmsnorm", "triton_red_fused__unsafe_view_add_mean_mul_pow_rsqrt_1"},
      {"rmsnorm", "triton_per_fused_native_layer_norm_0"},
      {"activation", "triton_poi_fused__unsafe_view_mul_silu_2"},
      {"attention", "triton_tem_fused_flex_attention_0"},
      {"reduce", "triton_red_fused_sum_3"},
      {"elementwise", "triton_poi_fused_add_3"},
      {"activation", "graph_0_cpp_fused__unsafe_view_mul_silu_6"},
  }));
}

TEST(UniversalRules, KnowTheRestOfAnEngine) {
  ExpectAll(std::to_array<JudgedName>({
      {"copy", "Memcpy HtoD (Pinned -> Device)"},
      {"copy", "Memset (Device)"},
      {"copy", "memcpy128"},
      {"copy", "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, 1>(int)"},
      {"copy",
       "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda("
       "at::TensorIteratorBase&)::{lambda()#3}, std::array<char*, 2ul>>(int)"},
      {"sampling",
       "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<"
       "float>, unsigned int, long, 4, 4> >(int)"},
      {"reduce",
       "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<"
       "float, float>, unsigned int, float, 4> >(int)"},
      {"embedding", "void at::native::vectorized_gather_kernel<16, long>(char*, char*)"},
      {"batch_prep", "create_flashinfer_kv_indices_triton"},
      {"kv_cache", "void (anonymous namespace)::store_kvcache<2048l, 4, false, long>(int)"},
      {"softmax", "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10>(int)"},
  }));
}

// Names of the public ResNet-50 and V100 training traces.
TEST(UniversalRules, KnowTraining) {
  ExpectAll(std::to_array<JudgedName>({
      {"convolution", "void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7>(int)"},
      {"convolution", "void implicit_convolve_sgemm<float, float, 1024, 6>(int)"},
      {"convolution", "volta_scudnn_128x128_stridedB_splitK_small_nn_v1"},
      {"batch_norm", "void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512>(float)"},
      {"pooling", "void at::native::(anonymous namespace)::max_pool_backward_nchw<float>(int)"},
      {"optimizer",
       "void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>>(int)"},
      // at::native's are _foreach_ ops: what they do is in the functor
      {"elementwise",
       "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
       "namespace)::TensorListMetadata<1>, at::native::(anonymous "
       "namespace)::BinaryOpScalarFunctor<float, 1, 1, 0>, std::multiplies<float>, float>(int)"},
      {"reduce",
       "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
       "namespace)::TensorListMetadata<1>, at::native::(anonymous namespace)::LpNormFunctor<float, "
       "(at::native::NormType)1, float, 1, 1, 0>>(int)"},
      {"loss", "void cunn_ClassNLLCriterion_updateOutput_kernel<float, float>(float*)"},
  }));
}

TEST(UniversalRules, KnowFrameworkOps) {
  ExpectAll(std::to_array<JudgedName>({
      {"view", "aten::view"},
      {"view", "aten::t"},
      {"alloc", "aten::empty"},
      {"elementwise", "aten::add_"},
      {"copy", "aten::copy_"},
      {"copy", "aten::to"},
      {"topk", "aten::topk"},
      {"moe", "aten::_grouped_mm"},
      {"gemm", "_C::onednn_mm"},
      {"sampling", "aten::argmax"},
      {"framework", "autograd::engine::evaluate_function: AddBackward0"},
  }));
}

}  // namespace
}  // namespace layerscope::model

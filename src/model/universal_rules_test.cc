// What the universal rules say of names whose meaning is known. Names and their meaning come from
// the rows of formats/profiles.md, from real traces, and from the source projects named in each
// test; what they should be called was decided by hand from what the kernel does there.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "src/model/rules.h"

namespace layerscope::model {
namespace {

const kernel_names::RuleSet& Universal() {
  static const kernel_names::RuleSet rules = [] {
    base::Result<kernel_names::RuleSet> loaded = LoadRuleSet("");
    EXPECT_TRUE(loaded.ok());
    return loaded.ok() ? *std::move(loaded) : kernel_names::RuleSet();
  }();
  return rules;
}

std::string CategoryOf(std::string_view kernel) {
  return Universal().category(Universal().Match(kernel)).name;
}

struct Expected {
  std::string_view category;
  std::string_view kernel;
};

template <size_t N>
void ExpectAll(const std::array<Expected, N>& table) {
  for (const auto& [category, kernel] : table) EXPECT_EQ(CategoryOf(kernel), category) << kernel;
}

// The rows marked "universal" of formats/profiles.md.
TEST(UniversalRules, KnowTheSharedTable) {
  ExpectAll(std::to_array<Expected>({
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
  ExpectAll(std::to_array<Expected>({
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
  ExpectAll(std::to_array<Expected>({
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
  ExpectAll(std::to_array<Expected>({
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
  ExpectAll(std::to_array<Expected>({
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
  ExpectAll(std::to_array<Expected>({
      {"linear_attention", "_selective_scan_update_kernel"},
      {"linear_attention", "_chunk_scan_fwd_kernel"},
      {"linear_attention", "_bmm_chunk_fwd_kernel"},
      {"linear_attention", "_causal_conv1d_update_kernel"},
      {"linear_attention", "fused_recurrent_gated_delta_rule_fwd_kernel"},
      {"linear_attention", "chunk_kda_fwd_kernel_intra"},
  }));
}

TEST(UniversalRules, KnowWhatInductorFused) {
  ExpectAll(std::to_array<Expected>({
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
  ExpectAll(std::to_array<Expected>({
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
  ExpectAll(std::to_array<Expected>({
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

// FlashAttention 3 and 4, FlashInfer (also its trtllm-gen kernels), FlashMLA, cutlass MLA,
// TensorRT-LLM, vLLM and SGLang Triton, native sparse attention, AITER.
TEST(UniversalRules, KnowTodaysAttention) {
  ExpectAll(std::to_array<Expected>({
      {"attention",
       "fmhaSm100fKernel_QkvBfloat16OBfloat16H128PagedKvCausalP64MultiCtasKvVarSeqQ8Kv"
       "128StaticSwapsAbForGen"},
      {"mla_attention",
       "fmhaSm100fKernel_QkvE4m3OBfloat16HQk576HV512HVPerCta256PagedKvDenseP32MultiCta"
       "sKvCgaVarSeqQ16Kv128StaticSwapsAbForGen"},
      {"attention",
       "fmhaSm100fKernel_QkvBfloat16OBfloat16HQk192HV128SeparateQkvCausalVarSeqQ128Kv1"
       "28PersistentContext"},
      {"attention",
       "kernel_cutlass_kernel_flash_attncuteflash_fwd_sm90FlashAttentionForwardSm90_ob"
       "ject_at__tensor0000o1112"},
      {"attention",
       "kernel_cutlass_kernel_flash_attncuteflash_fwd_combineFlashAttentionForwardComb"
       "ine_object_at__tensor0000o1"},
      {"attention",
       "void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMod"
       "e)0, 2u, 4u, 8u, 16u, 8u, 2u, flashinfer::DefaultAttention<false, false, false"
       ", false>>(int)"},
      {"attention",
       "void flashinfer::BatchPrefillWithRaggedKVCacheKernel<flashinfer::KernelTraits<"
       "1>>(int)"},
      {"attention",
       "void flashinfer::PrefillWithKVCacheKernel<flashinfer::CollectiveMainloop<int>,"
       " flashinfer::CollectiveEpilogue<int>>(int)"},
      {"attention", "void flashinfer::PODWithKVCacheTensorKernel<int>(int)"},
      {"attention",
       "void flashinfer::VariableLengthMergeStatesKernel<8u, 16u, 4u, 4u, __nv_bfloat1"
       "6>(int)"},
      {"mla_attention",
       "void flashinfer::mla::BatchMLAPagedAttentionKernel<flashinfer::mla::KernelTrai"
       "ts<1>>(int)"},
      {"mla_attention",
       "void flashinfer::mla::hopper::BatchMLAPageAttentionHopperKernel<flashinfer::ml"
       "a::hopper::HopperKernelTraits<1>>(int)"},
      {"mla_attention",
       "void cutlass::device_kernel<cutlass::fmha::kernel::Sm100FmhaMlaKernelTmaWarpsp"
       "ecialized<cute::tuple<cute::C<128>, cute::C<128>>>>(int)"},
      {"mla_attention",
       "void sm90::decode::sparse_fp8::flash_fwd_splitkv_mla_fp8_sparse_kernel<1>(int)"},
      {"mla_attention", "void flash_fwd_mla_combine_kernel<cutlass::bfloat16_t, 512, 64>(int)"},
      {"attention", "void sm100::fwd::head128::sparse_attn_fwd_kernel<int>(int)"},
      {"attention", "void vllm::merge_attn_states_kernel<__nv_bfloat16, unsigned int, 128u>(int)"},
      {"attention", "kernel_paged_attention_2d"},
      {"attention", "_fwd_kernel_stage2"},
      {"attention", "parallel_nsa_fwd_kernel"},
      {"attention", "_correct_attn_cp_out_kernel"},
      {"attention",
       "void tensorrt_llm::kernels::mmha::masked_multihead_attention_kernel<__nv_bfloa"
       "t16, 128>(int)"},
      {"attention", "kernel_mha"},
      {"attention", "xqa_kernel_dt_bf16_d_128_beam_1_kvt_e4m3_pagedKV_64_nqpkv_0_m_8_sm_100"},
      {"attention", "_ZN5aiter40fmha_fwd_hd128_bf16_causal_rtna_group_E"},
      {"mla_attention", "_ZN5aiter42mla_dec_stage1_bf16_a16w16_subQ128_mqa128E"},
  }));
}

// FlashInfer and TensorRT-LLM fused all-reduces, vLLM, SGLang, AITER, quick reduce, DeepEP, MORI,
// NCCL symmetric memory, MSCCL.
TEST(UniversalRules, KnowTodaysCommunication) {
  ExpectAll(std::to_array<Expected>({
      {"communication",
       "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamp"
       "ort<(flashinfer::trtllm_allreduce_fusion::AllReduceFusionPattern)1, __nv_bfloa"
       "t16, 8>(int)"},
      {"communication",
       "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_twoshot_sync"
       "<(flashinfer::trtllm_allreduce_fusion::AllReduceFusionPattern)1, __nv_bfloat16"
       ", 8>(int)"},
      {"communication",
       "void flashinfer::trtllm_mnnvl_allreduce::oneshotAllreduceFusionKernel<8, __nv_"
       "bfloat16>(int)"},
      {"communication", "void sglang::cross_device_reduce_2stage<__nv_bfloat16, 8>(int)"},
      {"communication", "void aiter::allreduce_fusion_kernel_1stage<__hip_bfloat16, 8>(int)"},
      {"communication",
       "void quickreduce::allreduce_prototype_twoshot<quickreduce::AllReduceTwoshot<__"
       "half, quickreduce::CodecQ4<__half, 8>>>(int)"},
      {"communication", "void deep_ep::intranode::notify_dispatch<8>(int)"},
      {"communication", "void deep_ep::internode_ll::combine<true, 7168, 10>(int)"},
      {"communication", "void deep_ep::layout::get_dispatch_layout<256, 32, 8>(int)"},
      {"communication", "EpDispatchInterNodeV1Kernel_bf16"},
      {"communication",
       "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"},
      {"communication", "ncclSymkDevKernel_AllGather_LLMC(ncclSymkDevWorkArgs4K)"},
      {"communication", "mscclKernel_Sum_float_LL_false(int)"},
      {"communication", "void tensorrt_llm::kernels::moe_comm::moeA2ADispatchKernel<8>(int)"},
  }));
}

// DeepGEMM and what shares its name, cuBLAS and CUTLASS on Blackwell, AITER, Marlin, vLLM on ROCm,
// TensorRT-LLM's small-batch kernels. A GEMM that quantises its input is a GEMM.
TEST(UniversalRules, KnowTodaysGemms) {
  ExpectAll(std::to_array<Expected>({
      {"gemm_fp8",
       "void deep_gemm::sm100_fp8_gemm_1d1d_impl<(cute::UMMA::Major)0, 0u, 7168u>(int)"},
      {"gemm_bf16", "void deep_gemm::sm90_bf16_gemm_impl<(cute::UMMA::Major)0>(int)"},
      {"paged_mqa", "void deep_gemm::sm100_fp8_mqa_logits<64u, 128u, 2u>(int)"},
      {"paged_mqa", "void deep_gemm::smxx_clean_logits<256u, 8192u>(int)"},
      {"mhc", "void deep_gemm::sm100_tf32_hc_prenorm_gemm_impl<24u, 16384u>(int)"},
      {"mhc", "mhc_pre_big_fuse_tilelang_kernel"},
      {"mhc", "hc_split_sinkhorn_kernel_kernel"},
      {"mhc", "_ihc_pre_stage1"},
      {"gemm_bf16", "nvjet_sm100_tst_128x256_64x6_2x1_2cta_v_bz_TNT"},
      {"gemm_fp4", "nvjet_sm103_ootst_256x128_256x4_2x1_2cta_v_bz_TNT"},
      {"gemm_fp4",
       "cutlass3x_sm100_bstensorop_s256x256x64gemm_block_scaled_ue4m3xe2m1_ue4m3xe2m1_"
       "f32_bf16_bf16_256x256x256_0_tnn_align32_o_vs16_2sm"},
      {"gemm_fp8", "_w8a8_triton_block_scaled_mm"},
      {"gemm_bf16", "_gemm_a16_w16_bf16_kernel"},
      {"gemm_fp8",
       "_batched_gemm_a8w8_a_per_token_group_prequant_w_per_batched_tensor_quant_kerne"
       "l"},
      {"gemm_fp4", "_ZN5aiter42f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256E"},
      {"gemm", "void marlin::Marlin<__nv_bfloat16, 256, 1, 8, 8, 4, false>(int)"},
      {"gemm", "void wvSplitK_hf_sml_<__hip_bfloat16, 64, 2, 16, 8, 2, 4>(int)"},
      {"gemm_fp16", "void vllm::gptq::gemm_half_q_half_gptq_4bit_kernel<true, 4>(int)"},
      {"gemm",
       "void dsv3MinLatencyKernels::router_gemm_kernel<__nv_bfloat16, 128, 8, 1, 256, "
       "7168>(int)"},
      {"gemm", "void fused_a_gemm_kernel<1, 2112, 7168, 16, 8, 256, 16>(int)"},
  }));
}

// vLLM, SGLang, TensorRT-LLM (CUTLASS and trtllm-gen), AITER, Composable Kernel, triton_kernels.
TEST(UniversalRules, KnowTodaysMixtureOfExperts) {
  ExpectAll(std::to_array<Expected>({
      {"moe", "fused_moe_kernel_gptq_awq"},
      {"moe", "void marlin_moe_wna16::Marlin<__nv_bfloat16, 256, 1, 8, 8, 4>(int)"},
      {"moe", "void moe_sum_reduce_kernel_warp_token_topk<8>(int)"},
      {"moe", "void count_and_sort_expert_tokens_kernel<int>(int)"},
      {"moe", "void kimi_k2_moe_fused_gate_kernel<int>(int)"},
      {"moe",
       "void moe::dev::activation::activationDeepSeekKernel<moe::dev::activation::Kern"
       "elParams<int>>(int)"},
      {"moe", "void moe::dev::routing::routingDeepSeek::routingMainKernel<int>(int)"},
      {"moe",
       "void tensorrt_llm::kernels::cutlass_kernels::doActivationKernel<__nv_fp8_e4m3,"
       " __nv_bfloat16>(int)"},
      {"moe",
       "void tensorrt_llm::kernels::cutlass_kernels::finalizeMoeRoutingKernel<__nv_bfl"
       "oat16>(int)"},
      {"moe",
       "void tensorrt_llm::kernels::cutlass_kernels::blockExpertPrefixSumKernel<256>(i"
       "nt)"},
      {"moe",
       "void tensorrt_llm::kernels::cutlass_kernels::computeStridesTmaWarpSpecializedK"
       "ernel<int>(int)"},
      {"moe", "_ZN5aiter44fmoe_stage1_bf16_pertokenFp8_g1u1_32x512_pf2E"},
      {"moe", "void ck::kernel_moe_gemm<ck::GridwiseMoeGemm<int>>(int)"},
      {"moe",
       "void ck_tile::kentry<1, ck_tile::MoeSortingMultiPhaseKernel_P23<ck_tile::MoeSo"
       "rtingProblemMp<int>>>(int)"},
      {"moe", "_fwd_kernel_ep_scatter_1"},
      {"moe", "batched_triton_kernel"},
      {"moe", "_reduce_grouped"},
      {"moe", "_ragged_tensor_metadata_compute"},
  }));
}

// flash-linear-attention (gated DeltaNet, KDA, GLA), Mamba 1 and 2, FlashInfer, lightning
// attention.
TEST(UniversalRules, KnowTodaysLinearAttention) {
  ExpectAll(std::to_array<Expected>({
      {"linear_attention", "chunk_gated_delta_rule_fwd_kernel_h_blockdim64"},
      {"linear_attention", "chunk_gla_fwd_kernel_o"},
      {"linear_attention", "kda_gate_fwd_kernel"},
      {"linear_attention", "fused_sigmoid_gating_delta_rule_update_kernel"},
      {"linear_attention", "fused_qkvzba_split_reshape_cat_kernel"},
      {"linear_attention", "recompute_w_u_fwd_kernel"},
      {"linear_attention", "merge_16x16_to_64x64_inverse_kernel"},
      {"linear_attention",
       "void cutlass::device_kernel<flat::kernel::FlatKernelTmaWarpSpecializedDeltaRul"
       "e<int>>(int)"},
      {"linear_attention", "_state_passing_fwd_kernel"},
      {"linear_attention", "_chunk_cumsum_fwd_kernel"},
      {"linear_attention",
       "void selective_scan_fwd_kernel<Selective_Scan_fwd_kernel_traits<128, 16>>(int)"},
      {"linear_attention",
       "void flashinfer::mamba::selective_state_update_kernel_simple<__nv_bfloat16>(in"
       "t)"},
      {"linear_attention", "void lightning_attention_decode_kernel<__nv_bfloat16>(int)"},
      {"linear_attention", "_fwd_none_diag_kernel"},
  }));
}

// Norms, rotary embedding, cache writes, quantisation, routing scores and sampling of the same
// engines.
TEST(UniversalRules, KnowTodaysSmallKernels) {
  ExpectAll(std::to_array<Expected>({
      {"quant", "_silu_mul_fp8_quant_deep_gemm"},
      {"rmsnorm", "layer_norm_gated_fwd_kernel"},
      {"rmsnorm", "_layer_norm_fwd_1pass_kernel"},
      {"rmsnorm", "void vllm::fused_add_rms_norm_static_fp8_quant_kernel<c10::BFloat16, 8>(int)"},
      {"rmsnorm", "kernel_cutlass_kernel_quackrmsnormRMSNorm_object_at__tensor"},
      {"rmsnorm", "void tensorrt_llm::kernels::generalRmsNorm<__nv_bfloat16, int>(int)"},
      {"rope", "void tensorrt_llm::kernels::fusedQKNormRopeKernel<128, true>(int)"},
      {"rope",
       "void flashinfer::BatchQKApplyRotaryPosIdsCosSinCacheHeadParallelismKernel<true"
       ", 128u, 8u, 16u>(int)"},
      {"rope",
       "void tensorrt_llm::kernels::applyMLARopeAndAssignQKVKernelGeneration<__nv_bflo"
       "at16, 256, 512, 64>(int)"},
      {"kv_cache", "void vllm::concat_and_cache_mla_kernel<__nv_bfloat16, unsigned char>(int)"},
      {"kv_cache", "set_mla_kv_buffer_kernel"},
      {"kv_cache",
       "void vllm::indexer_k_quant_and_cache_kernel<__nv_bfloat16, unsigned char>(int)"},
      {"kv_cache", "void vllm::cp_gather_indexer_k_quant_cache_kernel<4>(int)"},
      {"kv_cache", "void flashinfer::AppendPagedKVCacheKernel<128u, 4u>(int)"},
      {"kv_cache",
       "void tensorrt_llm::kernels::applyBiasRopeUpdateKVCacheV2<__nv_bfloat16, 128>(i"
       "nt)"},
      {"kv_cache", "_fused_qk_rope_reshape_and_cache_kernel"},
      {"kv_cache", "void transfer_kernel_impl<int>(int)"},
      {"kv_cache", "_set_k_and_s_triton_kernel"},
      {"quant", "void vllm::cvt_fp16_to_fp4<__nv_bfloat16, false>(int)"},
      {"quant", "void sgl_per_token_group_quant_8bit_kernel<__nv_bfloat16>(int)"},
      {"quant", "_static_quant_fp8"},
      {"quant", "void per_tensor_absmax_kernel<__nv_bfloat16>(int)"},
      {"quant",
       "void tensorrt_llm::kernels::fp8_blockscale_gemm::scale_1x128_kernel<__nv_bfloa"
       "t16, __nv_fp8_e4m3>(int)"},
      {"quant", "_dynamic_mxfp4_quant_kernel"},
      {"quant", "void aiter::dynamic_per_group_scaled_quant_kernel<__hip_bfloat16>(int)"},
      {"quant",
       "void tensorrt_llm::kernels::quantize_with_block_size<(int)0, __nv_bfloat16, 16"
       ">(int)"},
      {"topk", "void vllm::topKPerRowDecode<512, true>(int)"},
      {"topk", "topk_transform_decode_kernel"},
      {"topk",
       "void at::native::sbtopk::gatherTopK<c10::BFloat16, unsigned int, 2, false>(int"
       ")"},
      {"activation", "void flashinfer::activation::act_and_mul_kernel<__nv_bfloat16>(int)"},
      {"activation", "_swiglu_fn"},
      {"hadamard",
       "void fast_hadamard_transform_kernel<fast_hadamard_transform_kernel_traits<16, "
       "7>>(int)"},
      {"sampling", "_gumbel_sample_kernel"},
      {"sampling", "_penalties_and_temperature_kernel"},
      {"sampling", "sample_recovered_tokens_kernel"},
      {"sampling", "rejection_greedy_sample_kernel"},
      {"sampling", "void flashinfer::sampling::TopPRenormProbKernel<1024u, float>(int)"},
      {"sampling", "apply_token_bitmask_inplace_kernel"},
      {"sampling", "fused_softmax_temperature_kernel"},
      {"batch_prep", "write_req_to_token_pool_triton"},
      {"batch_prep", "get_num_kv_splits_triton"},
      {"batch_prep", "void get_mla_metadata_kernel(int)"},
      {"batch_prep", "_prepare_prefill_inputs_kernel"},
      {"batch_prep", "_compute_slot_mappings_kernel"},
      {"copy", "concat_mla_k_kernel"},
      {"copy", "triton_poi_fused__to_copy_1"},
      {"copy", "triton_poi_fused_cat_clone_2"},
      {"copy", "__amd_rocclr_copyBuffer"},
      {"compressor", "void flash_c4_decode<512l, float, __nv_bfloat16, true>(int)"},
      {"embedding", "_engram_gate_conv_kernel"},
      {"mhc", "_hc_gate_reduce_kernel"},
      {"activation", "_sigmoid_mul_gate_kernel"},
      {"residual", "attn_res_fused"},
      {"residual", "attn_res_fwd_online_v2_kernel"},
  }));
}

TEST(UniversalRules, KnowFrameworkOps) {
  ExpectAll(std::to_array<Expected>({
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

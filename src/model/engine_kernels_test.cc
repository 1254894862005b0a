// What the universal rules say of the kernels of today's engines. Names come from the source
// projects named in each test; what they should be called was decided by hand from what the kernel
// does.
#include <gtest/gtest.h>

#include <array>

#include "tests/support/judged_names.h"

namespace layerscope::model {
namespace {

// FlashAttention 3 and 4, FlashInfer (also its trtllm-gen kernels), FlashMLA, cutlass MLA,
// TensorRT-LLM, vLLM and SGLang Triton, native sparse attention, AITER.
TEST(EngineKernels, KnowAttention) {
  ExpectAll(std::to_array<JudgedName>({
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
TEST(EngineKernels, KnowCommunication) {
  ExpectAll(std::to_array<JudgedName>({
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
TEST(EngineKernels, KnowGemms) {
  ExpectAll(std::to_array<JudgedName>({
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
TEST(EngineKernels, KnowMixtureOfExperts) {
  ExpectAll(std::to_array<JudgedName>({
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
TEST(EngineKernels, KnowLinearAttention) {
  ExpectAll(std::to_array<JudgedName>({
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
TEST(EngineKernels, KnowSmallKernels) {
  ExpectAll(std::to_array<JudgedName>({
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

}  // namespace
}  // namespace layerscope::model

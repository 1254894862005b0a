#include "src/kernel_names/short_name.h"

#include <gtest/gtest.h>

#include <string>

#include "src/kernel_names/kernel_name.h"

namespace layerscope::kernel_names {
namespace {

// Names are copied from real traces unless a test says otherwise; expected values are what an
// engineer would type, written by hand.

TEST(ShortName, KeepsNamesThatAreShortAlready) {
  for (const std::string_view name :
       {"fused_moe_kernel", "ampere_sgemm_128x64_nn", "Memcpy DtoD (Device -> Device)",
        "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", "aten::linear", ""}) {
    EXPECT_EQ(ShortName(name), name);
  }
}

TEST(ShortName, FoldsTemplatesAndNamespaces) {
  EXPECT_EQ(ShortName("void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)"),
            "rotary_embedding_kernel");
  EXPECT_EQ(
      ShortName("void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, "
                "128, 128, 4, false, false, cutlass::bfloat16_t> >(pytorch_flash::Params)"),
      "flash_fwd_kernel");
  EXPECT_EQ(
      ShortName("_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4s"
                "iluIS2_ES3_S5_EEEEvPS3_PS4_i"),
      "act_and_mul_kernel");
}

// FlashAttention-3 (hopper/flash_fwd_launch_template.h) and vLLM's CUTLASS GEMMs
// (csrc/cutlass_extensions/common.hpp): the guard around the kernel is not its name.
TEST(ShortName, LooksThroughArchitectureGuards) {
  EXPECT_EQ(
      ShortName("void cutlass::device_kernel<flash::enable_sm90_or_later<flash::"
                "FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>, "
                "cute::C<1>, cute::C<1> >, cute::tuple<cute::C<128>, cute::C<128>, "
                "cute::C<128> >, 128, cutlass::bfloat16_t, float, cutlass::arch::Sm90> > > >("
                "flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<int> >::Params)"),
      "flash FlashAttnFwdSm90 128x128x128 bf16");
}

TEST(ShortName, KeepsNamespacesOfNamesThatSayNothing) {
  EXPECT_EQ(ShortName("void deep_ep::internode_ll::dispatch<true, 7168>(void*)"),
            "deep_ep::internode_ll::dispatch");
  EXPECT_EQ(ShortName("void epilogue::impl::globalKernel<float, float>(int, int)"),
            "epilogue::impl::globalKernel");
}

TEST(ShortName, CutsLibraryNamesAfterTheTile) {
  EXPECT_EQ(ShortName("nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT"), "nvjet_tst_64x64");
  EXPECT_EQ(ShortName("nvjet_sm100_qqtst_128x256_128x6_2x1_2cta_v_bz_bias_TNT"),
            "nvjet_sm100_qqtst_128x256");
  EXPECT_EQ(
      ShortName("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_"
                "execute_segment_k_off_kernel__5x_cublas"),
      "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64");
  EXPECT_EQ(ShortName("ampere_bf16_s16816gemm_bf16_64x64_sliced1x2_ldg8_f2f_stages_64x6_tn"),
            "ampere_bf16_s16816gemm_bf16_64x64");
  EXPECT_EQ(
      ShortName("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x32x64_MI16x16x1_SN_LDSB1"),
      "Cijk_Alik_Bljk_BBS MT256x32x64");
  EXPECT_EQ(
      ShortName("igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt32x256x32_wt16x64x4_ws1x1_wr1x2_ta1x4x1x1_"
                "1x8x1x32_tb1x4x8x1_1x8x1x32_gkgs"),
      "igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt32x256x32");
  EXPECT_EQ(ShortName("bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_cga1x1x1_"
                      "16dp256b_rM_TN_transOut_schedP2x1x2x3_biasM_bN_tma_swiGlu_dynBatch_sm100f"),
            "bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256_swiGlu");
}

TEST(ShortName, KeepsDtypesMaskAndPhaseOfGeneratedAttention) {
  EXPECT_EQ(
      ShortName("fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128Persistent"
                "Context"),
      "fmhaSm100a_QkvE4m3OBfloat16H64PagedKvCausalContext");
  EXPECT_EQ(
      ShortName("fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvSlidingOrChunkedCausalP16VarSeqQ128"
                "Kv128PersistentContext"),
      "fmhaSm100a_QkvE4m3OBfloat16H64PagedKvSlidingCausalContext");
}

TEST(ShortName, ShowsTheFunctorOfElementwiseKernels) {
  EXPECT_EQ(
      ShortName(
          "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
          "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()"
          "() const::{lambda()#12}::operator()() const::{lambda(c10::BFloat16)#1}>("
          "at::TensorIteratorBase&, at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)"
          "::{lambda()#3}::operator()() const::{lambda()#12}::operator()() const::{lambda("
          "c10::BFloat16)#1} const&)::{lambda(int)#1}>(int)"),
      "elementwise_kernel<direct_copy bf16>");
  EXPECT_EQ(
      ShortName("void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous "
                "namespace)::pow_tensor_scalar_kernel_impl<float, float>(at::TensorIteratorBase&, "
                "float)::{lambda(float)#1}, std::array<char*, 2ul> >(int)"),
      "vectorized_elementwise_kernel<pow_tensor_scalar fp32>");
  EXPECT_EQ(
      ShortName("void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
                "at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, "
                "at::native::binary_internal::MulFunctor<float> > >(at::TensorIteratorBase&)"
                "::{lambda(int)#1}>(int)"),
      "elementwise_kernel<MulFunctor bf16>");
  EXPECT_EQ(ShortName("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
                      "at::native::MeanOps<float, float, float, float>, unsigned int, float, 4> >("
                      "at::native::ReduceOp<float>)"),
            "reduce_kernel<MeanOps fp32>");
  EXPECT_EQ(ShortName("void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>, "
                      "float, float>(int, int volatile*)"),
            "multi_tensor_apply_kernel<AdamFunctor fp32>");
}

// The same kernels as Nsight Systems demangles them.
TEST(ShortName, ReadsNsightsSpelling) {
  EXPECT_EQ(
      ShortName("void at::native::vectorized_elementwise_kernel<(int)8, "
                "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase &)::[lambda(float) "
                "(instance 1)], std::array<char *, (unsigned long)2>>(int, T2, T3)"),
      "vectorized_elementwise_kernel<bfloat16_copy fp32>");
  EXPECT_EQ(
      ShortName("void at::native::elementwise_kernel<(int)128, (int)2, void "
                "at::native::gpu_kernel_impl_nocast<at::native::CUDAFunctor_add<float>>("
                "at::TensorIteratorBase &, const T1 &)::[lambda(int) (instance 1)]>(int, T3)"),
      "elementwise_kernel<CUDAFunctor_add fp32>");
  EXPECT_EQ(
      ShortName("void at::native::<unnamed>::vectorized_layer_norm_kernel<float, float, (bool)0>("
                "int, T2, const T1 *)"),
      "vectorized_layer_norm_kernel");
}

// Composed after CUTLASS's device_kernel and the collective builder's types.
TEST(ShortName, LooksIntoClassLaunchers) {
  EXPECT_EQ(
      ShortName("void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, "
                "int, int, int>, cutlass::gemm::collective::CollectiveMma<cutlass::gemm::"
                "MainloopSm90TmaGmmaWarpSpecialized<4, cute::tuple<cute::C<2>, cute::C<1>, "
                "cute::C<1> > >, cute::tuple<cute::C<128>, cute::C<128>, cute::C<64> >, "
                "cutlass::bfloat16_t, float> > >(cutlass::Params)"),
      "cutlass GemmUniversal 128x128x64 bf16");
  EXPECT_EQ(ShortName("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_align1>("
                      "cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_align1::Params)"),
            "cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_align1");
  EXPECT_EQ(
      ShortName("void rocprim::ROCPRIM_400200_NS::detail::trampoline_kernel<rocprim::"
                "ROCPRIM_400200_NS::detail::wrapped_scan_config<rocprim::ROCPRIM_400200_NS::"
                "default_config, long>, (rocprim::ROCPRIM_400200_NS::detail::target_arch)942>()"),
      "rocprim scan i64");
}

TEST(ShortName, CutsCuteDslNamesBeforeTheTensors) {
  EXPECT_EQ(ShortName("kernel_cutlass_kernel_flashinfernormkernelsrmsnormRMSNormKernel_object_at__"
                      "tensorptrbf16gmemalign128o1"),
            "kernel_flashinfernormkernelsrmsnormRMSNormKernel");
}

TEST(ShortName, CutsLongNamesInTheMiddle) {
  const std::string text =
      ShortName("split_embedding_backward_codegen_rowwise_adagrad_unweighted_kernel_cta_per_row_1");
  EXPECT_EQ(text, "split_embedding_backward_codeg…unweighted_kernel_cta_per_row_1");
  EXPECT_EQ(text.size(), kMaxShortBytes);
}

TEST(ShortName, CutsBetweenCharacters) {
  std::string name;
  for (int i = 0; i < 50; ++i) name += "ä";
  for (const char* prefix : {"", "x"}) {
    const std::string text = ShortName(prefix + name);
    EXPECT_LE(text.size(), kMaxShortBytes);
    // Two bytes a letter on both sides of the three-byte ellipsis.
    const size_t ellipsis = text.find("…");
    ASSERT_NE(ellipsis, std::string::npos);
    EXPECT_EQ(text.substr(ellipsis + 3, 2), "ä");
    EXPECT_EQ(text.substr(ellipsis - 2, 2), "ä");
  }
}

TEST(ShortName, ReplacesControlCharacters) {
  EXPECT_EQ(ShortName("a\nb\x01"), "a b ");
}

TEST(ShortName, StaysBoundedOnHostileNames) {
  for (const char c : {'<', '(', ':', 'a', '1', '_', '\x80', '\xff', 'x', ' ', '{'}) {
    EXPECT_LE(ShortName(std::string(1 << 20, c)).size(), kMaxShortBytes);
    EXPECT_LE(ShortName("void at::native::elementwise_kernel<" + std::string(1 << 20, c)).size(),
              kMaxShortBytes);
    EXPECT_LE(ShortName("Cijk_" + std::string(1 << 20, c)).size(), kMaxShortBytes);
  }
}

}  // namespace
}  // namespace layerscope::kernel_names

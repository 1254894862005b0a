#include "src/kernel_names/kernel_name.h"

#include <gtest/gtest.h>

#include <string>

namespace layerscope::kernel_names {
namespace {

// Names are copied from real traces unless a test says otherwise; expected values are read by hand.

TEST(OwnName, IsTheFunctionItself) {
  EXPECT_EQ(OwnName("void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, unsigned char, "
                    "(vllm::Fp8KVCacheDataType)1>(__nv_bfloat16 const*, int)"),
            "reshape_and_cache_flash_kernel");
  EXPECT_EQ(OwnName("void (anonymous namespace)::store_kvcache<2048l, 4, false, long>((anonymous "
                    "namespace)::StoreKVCacheParams)"),
            "store_kvcache");
  EXPECT_EQ(OwnName("triton_poi_fused_0"), "triton_poi_fused_0");
}

// AITER registers its assembly kernels by symbols of variables (asm_mla.cu).
TEST(OwnName, ReadsMangledNamesWithoutParameters) {
  EXPECT_EQ(OwnName("_ZN5aiter36mla_a8w8_qh16_qseqlen1_gqaratio16_psE"),
            "mla_a8w8_qh16_qseqlen1_gqaratio16_ps");
}

TEST(MatchName, KeepsNamespaces) {
  EXPECT_EQ(MatchName("void deep_gemm::sm90_fp8_gemm_1d2d_impl<1u, 2u>(float*)"),
            "deep_gemm::sm90_fp8_gemm_1d2d_impl");
  EXPECT_EQ(MatchName("void deep_ep::internode_ll::dispatch<true, 7168>(void*)"),
            "deep_ep::internode_ll::dispatch");
}

TEST(MatchName, SetsTemplateArgumentsAside) {
  EXPECT_EQ(MatchName("void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, "
                      "cutlass::bfloat16_t>, false>(flash::Flash_fwd_params)"),
            "flash::flash_fwd_splitkv_kernel");
}

TEST(MatchName, KnowsLaunchersByWhatTheyLaunch) {
  EXPECT_EQ(MatchName("void at::native::vectorized_elementwise_kernel<8, at::native::FillFunctor<"
                      "c10::BFloat16>, std::array<char*, 1ul> >(int, at::native::FillFunctor<"
                      "c10::BFloat16>, std::array<char*, 1ul>)"),
            "at::native::vectorized_elementwise_kernel<FillFunctor bf16>");
  EXPECT_EQ(MatchName("void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>("
                      "cutlass_80_simt_sgemm_128x32_8x5_nn_align1::Params)"),
            "cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>");
  EXPECT_EQ(MatchName("_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipe"),
            "ck_tile::kentry<Rmsnorm2dFwd>");
}

// FlashAttention 3, hopper/flash_fwd_launch_template.h: the class is in namespace flash.
TEST(MatchName, KnowsFlashAttention3BehindCutlassLauncher) {
  EXPECT_EQ(MatchName("void cutlass::device_kernel<flash::FlashAttnFwdSm90<"
                      "flash::CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>, cute::C<1>, "
                      "cute::C<1> >, cute::tuple<cute::C<128>, cute::C<176>, cute::C<128> >, 128, "
                      "cutlass::bfloat16_t, float> > >(flash::Params)"),
            "cutlass::device_kernel<FlashAttnFwdSm90 128x176x128 bf16>");
}

TEST(MatchName, KeepsOpsAndCopiesWhole) {
  EXPECT_EQ(MatchName("aten::mm"), "aten::mm");
  EXPECT_EQ(MatchName("Memcpy HtoD (Pinned -> Device)"), "Memcpy HtoD (Pinned -> Device)");
}

TEST(MatchName, IsBounded) {
  EXPECT_EQ(MatchName(std::string(1 << 20, 'a')).size(), kMaxMatchBytes);
  EXPECT_EQ(MatchName(""), "");
}

}  // namespace
}  // namespace layerscope::kernel_names

#pragma once
// Kernel names that several families share, as CUPTI reports them under vLLM and SGLang (copied
// from public traces and from the kernels' sources). kernel_names.h holds the dense model's.

#include <string_view>

namespace layerscope::gen {

inline constexpr std::string_view kFlashinferNorm =
    "void flashinfer::norm::RMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*, __nv_bfloat16*, "
    "__nv_bfloat16*, unsigned int, unsigned int, unsigned int, float, float)";
inline constexpr std::string_view kFlashinferAddNorm =
    "void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*, "
    "__nv_bfloat16*, __nv_bfloat16*, unsigned int, unsigned int, unsigned int, float, float)";
inline constexpr std::string_view kGroupQuant =
    "void per_token_group_quant_8bit_kernel<__nv_bfloat16, __nv_fp8_e4m3, true, false, float>(void "
    "const*, void*, float*, int, int, int, int, int, int)";
inline constexpr std::string_view kFp8Gemm =
    "void deep_gemm::sm90_fp8_gemm_1d2d_impl<(cute::UMMA::Major)0, 0u, 7168u, 2048u, 1u, 128u, "
    "128u, 128u, 128u, 128u, 4u, 128u, 256u, 1u, false, 132u, (deep_gemm::GemmType)0, "
    "deep_gemm::epilogue::transform::EpilogueIdentity>(float*, int*, unsigned int, unsigned int, "
    "unsigned int, CUtensorMap, CUtensorMap, CUtensorMap, CUtensorMap)";
inline constexpr std::string_view kFp8GemmNarrow =
    "void deep_gemm::sm90_fp8_gemm_1d2d_impl<(cute::UMMA::Major)0, 0u, 2112u, 7168u, 1u, 64u, 64u, "
    "128u, 128u, 128u, 5u, 128u, 128u, 1u, false, 132u, (deep_gemm::GemmType)0, "
    "deep_gemm::epilogue::transform::EpilogueIdentity>(float*, int*, unsigned int, unsigned int, "
    "unsigned int, CUtensorMap, CUtensorMap, CUtensorMap, CUtensorMap)";
inline constexpr std::string_view kFp8GroupedGemm =
    "void deep_gemm::sm90_fp8_gemm_1d2d_impl<(cute::UMMA::Major)0, 0u, 4096u, 7168u, 256u, 64u, "
    "128u, 128u, 128u, 128u, 4u, 128u, 128u, 1u, false, 132u, (deep_gemm::GemmType)3, "
    "deep_gemm::epilogue::transform::EpilogueIdentity>(float*, int*, unsigned int, unsigned int, "
    "unsigned int, CUtensorMap, CUtensorMap, CUtensorMap, CUtensorMap)";
inline constexpr std::string_view kPagedMqaLogits =
    "void deep_gemm::sm90_fp8_paged_mqa_logits<1u, 64u, 128u, 64u, 3u, 3u, 256u, 128u, "
    "512u>(unsigned int, unsigned long, unsigned long, unsigned int const*, float*, unsigned int "
    "const*, unsigned int const*, CUtensorMap, CUtensorMap, CUtensorMap, CUtensorMap)";
inline constexpr std::string_view kMqaLogits =
    "void deep_gemm::sm90_fp8_mqa_logits<64u, 128u, 128u, 64u, 3u, 3u, 128u, 256u>(unsigned int, "
    "unsigned int, unsigned long, unsigned int*, unsigned int*, float*, CUtensorMap, CUtensorMap, "
    "CUtensorMap, CUtensorMap)";
inline constexpr std::string_view kHadamard =
    "void (anonymous namespace)::fast_hadamard_transform_kernel<(anonymous "
    "namespace)::FastHadamardKernelTraits<16, 7, __nv_bfloat16> >(HadamardParamsBase)";
inline constexpr std::string_view kTopkTransform =
    "void (anonymous namespace)::topk_transform_decode_kernel<2048>((anonymous "
    "namespace)::TopKParams)";
inline constexpr std::string_view kSparseMla =
    "void sm90::decode::sparse_fp8::flash_fwd_splitkv_mla_fp8_sparse_kernel<(ModelType)0, "
    "64>(SparseAttnDecodeParams)";
inline constexpr std::string_view kSparsePrefill =
    "void sm90::fwd::sparse_attn_fwd_kernel<512, false>(SparseAttnFwdParams)";
inline constexpr std::string_view kDenseMla =
    "void flash::flash_fwd_splitkv_mla_kernel<Flash_fwd_kernel_traits_mla<576, 64, 64, 8, "
    "cutlass::bfloat16_t, 512>, true, flash::SharedStorageMLA<576> >(Flash_fwd_mla_params)";
inline constexpr std::string_view kMlaCombine =
    "void flash::flash_fwd_splitkv_mla_combine_kernel<cutlass::bfloat16_t, float, long, 512, 64, "
    "128>(Flash_fwd_mla_params)";
inline constexpr std::string_view kMlaPrefill =
    "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::"
    "CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>, cute::C<1>, cute::C<1> >, cute::tuple<"
    "cute::C<128>, cute::C<112>, cute::C<192> >, 128, cutlass::bfloat16_t, float, "
    "cutlass::arch::Sm90, true> > > >(flash::FlashAttnFwdSm90::Params)";
inline constexpr std::string_view kRouteTopk =
    "void moe_fused_gate_kernel<__nv_bfloat16, cutlass::bfloat16_t, 8, 256, 8, 32, 1, 6>(void*, "
    "void*, float*, int*, long, long, long, long, double, bool)";
inline constexpr std::string_view kFusedMoe = "fused_moe_kernel";
inline constexpr std::string_view kMoeAlign =
    "void moe_align_block_size_kernel<int>(int const*, int*, int*, int*, int, int, int, unsigned "
    "long, int*, bool)";
inline constexpr std::string_view kMoeSum = "_moe_sum_reduce_kernel";
inline constexpr std::string_view kSiluMul =
    "void flashinfer::activation::act_and_mul_kernel<__nv_bfloat16, silu>(__nv_bfloat16*, "
    "__nv_bfloat16 const*, int)";
inline constexpr std::string_view kOneShotReduce =
    "void sglang::cross_device_reduce_1stage<__nv_bfloat16, 8>(sglang::RankData*, "
    "sglang::RankSignals, sglang::Signal*, __nv_bfloat16*, int, int)";
inline constexpr std::string_view kLamportReduceNorm =
    "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(flashinfer:"
    ":trtllm_allreduce_fusion::AllReduceFusionPattern)1, __nv_bfloat16, 8, false, "
    "false>(flashinfer::trtllm_allreduce_fusion::AllReduceFusionParams<__nv_bfloat16>)";
inline constexpr std::string_view kConvUpdate = "_causal_conv1d_update_kernel";
inline constexpr std::string_view kConvPrefill = "_causal_conv1d_fwd_kernel";
inline constexpr std::string_view kGatedNorm = "_layer_norm_fwd_1pass_kernel";
inline constexpr std::string_view kL2Norm = "l2norm_fwd_kernel";
inline constexpr std::string_view kSplitReduce =
    "void cublasLt::splitKreduce_kernel<32, 16, int, __nv_bfloat16, __nv_bfloat16, float, "
    "__nv_bfloat16, true, false, false>(cublasLt::cublasSplitKParams<float>, __nv_bfloat16 const*, "
    "__nv_bfloat16 const*, __nv_bfloat16*, float const*, float const*)";
inline constexpr std::string_view kBf16Add =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, "
    "3ul>)";
inline constexpr std::string_view kBf16Copy =
    "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::"
    "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()"
    "#12}::operator()() const::{lambda(c10::BFloat16)#1}>(at::TensorIteratorBase&)>(int)";
inline constexpr std::string_view kCat =
    "void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous namespace)"
    "::OpaqueType<2u>, unsigned int, 2, 64, 64>(at::native::(anonymous namespace)::OpaqueType<2u>*,"
    " at::native::(anonymous namespace)::CatArrInputTensorMetadata)";
inline constexpr std::string_view kStoreCache =
    "void (anonymous namespace)::store_kvcache<2048l, 4, false, long>((anonymous "
    "namespace)::StoreKVCacheParams)";
inline constexpr std::string_view kRouterGemm =
    "void router_gemm_kernel_float_output<__nv_bfloat16, 128, 8, 8, 256, 7168>(float*, "
    "__nv_bfloat16 const*, __nv_bfloat16 const*)";
inline constexpr std::string_view kLmHead = "nvjet_tst_192x8_64x8_4x1_v_bz_TNT";
inline constexpr std::string_view kGemmQkv = "nvjet_tst_64x8_64x16_4x1_v_bz_TNT";
inline constexpr std::string_view kGemmOut = "nvjet_tst_64x8_64x16_4x1_v_bz_splitK_TNT";
inline constexpr std::string_view kGemmUp = "nvjet_tst_128x8_64x12_2x1_v_bz_TNT";
inline constexpr std::string_view kGemmDown = "nvjet_tst_64x16_64x16_2x1_v_bz_splitK_TNT";
inline constexpr std::string_view kAbsorbBmm = "nvjet_tst_64x32_64x16_1x2_h_bz_NNT";

}  // namespace layerscope::gen

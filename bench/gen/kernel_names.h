#pragma once
// Kernel names as CUPTI reports them on an H100 under vLLM and PyTorch 2.8 (copied from traces).

#include <string_view>

namespace layerscope::gen {

inline constexpr std::string_view kRmsNorm =
    "void vllm::rms_norm_kernel<c10::BFloat16, 8, 2>(c10::BFloat16*, c10::BFloat16 const*, long, "
    "long, long, long, long, c10::BFloat16 const*, float, int, int)";
inline constexpr std::string_view kFusedAddRmsNorm =
    "std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type "
    "vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long, c10::BFloat16*, "
    "c10::BFloat16 const*, float, int, int)";
inline constexpr std::string_view kRotary =
    "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*, "
    "c10::BFloat16*, c10::BFloat16 const*, int, long, long, long, int, int, int)";
inline constexpr std::string_view kReshapeAndCache =
    "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16, "
    "(vllm::Fp8KVCacheDataType)0>(__nv_bfloat16 const*, __nv_bfloat16 const*, __nv_bfloat16*, "
    "__nv_bfloat16*, long const*, long, long, long, long, long, int, int, int, float const*, "
    "float const*)";
inline constexpr std::string_view kFlashPrefill =
    "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::"
    "CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>, cute::C<1>, cute::C<1> >, "
    "cute::tuple<cute::C<128>, cute::C<128>, cute::C<128> >, 128, cutlass::bfloat16_t, float, "
    "cutlass::arch::Sm90, true, false, false, true, true, false, false, false, true, false, false, "
    "false>, flash::CollectiveEpilogueFwd<cute::tuple<cute::C<128>, cute::C<128>, cute::C<128> >, "
    "cute::tuple<cute::C<1>, cute::C<1>, cute::C<1> >, cutlass::bfloat16_t, cutlass::arch::Sm90, "
    "256, true, false, false, false>, flash::VarlenDynamicPersistentTileScheduler<128, 256, 128, "
    "false, false, true, true, true, true> > > >(flash::enable_sm90_or_later<flash::"
    "FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>, cute::C<1>, "
    "cute::C<1> > > > >::Params)";
inline constexpr std::string_view kFlashDecode =
    "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::"
    "CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>, cute::C<1>, cute::C<1> >, "
    "cute::tuple<cute::C<64>, cute::C<128>, cute::C<128> >, 128, cutlass::bfloat16_t, float, "
    "cutlass::arch::Sm90, true, false, false, true, true, false, false, false, true, true, true, "
    "false>, flash::CollectiveEpilogueFwd<cute::tuple<cute::C<64>, cute::C<128>, cute::C<128> >, "
    "cute::tuple<cute::C<1>, cute::C<1>, cute::C<1> >, float, cutlass::arch::Sm90, 128, true, "
    "true, true, false>, flash::VarlenDynamicPersistentTileScheduler<64, 128, 128, true, true, "
    "true, true, true, true> > > >(flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::"
    "CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>, cute::C<1>, cute::C<1> > > > >::Params)";
inline constexpr std::string_view kFlashCombine =
    "void cutlass::device_kernel<flash::enable_sm80_to_sm100<flash::FlashAttnFwdCombine<cute::"
    "tuple<cute::C<8>, cute::C<128> >, 5, 256, 1, false, true, cutlass::bfloat16_t, float, "
    "cutlass::arch::Sm90> > >(flash::enable_sm80_to_sm100<flash::FlashAttnFwdCombine<cute::tuple<"
    "cute::C<8>, cute::C<128> >, 5, 256, 1, false, true, cutlass::bfloat16_t, float, "
    "cutlass::arch::Sm90> >::Params)";
inline constexpr std::string_view kFlashSchedule =
    "flash::prepare_varlen_num_blocks_kernel(int, int, int, int const*, int const*, int const*, "
    "int const*, int const*, int const*, int, int, int, int, int, cutlass::FastDivmod, "
    "cutlass::FastDivmod, int*, int*, bool)";
inline constexpr std::string_view kSiluAndMul =
    "void vllm::act_and_mul_kernel<c10::BFloat16, &(c10::BFloat16 vllm::silu_kernel<c10::BFloat16>"
    "(c10::BFloat16 const&)), true>(c10::BFloat16*, c10::BFloat16 const*, int)";
inline constexpr std::string_view kGather =
    "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long, long, "
    "long, long, bool)";
inline constexpr std::string_view kIndex =
    "void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<at::native::"
    "index_kernel_impl<at::native::OpaqueType<2> >(at::TensorIteratorBase&, c10::ArrayRef<long>, "
    "c10::ArrayRef<long>)::{lambda(char*, char const*, long)#1}>(at::TensorIteratorBase&, "
    "c10::ArrayRef<long>, c10::ArrayRef<long>, at::native::index_kernel_impl<at::native::"
    "OpaqueType<2> >(at::TensorIteratorBase&, c10::ArrayRef<long>, c10::ArrayRef<long>)::{lambda("
    "char*, char const*, long)#1} const&, bool)::{lambda(int)#1}>(long, at::native::"
    "gpu_index_kernel<at::native::index_kernel_impl<at::native::OpaqueType<2> >(at::"
    "TensorIteratorBase&, c10::ArrayRef<long>, c10::ArrayRef<long>)::{lambda(char*, char const*, "
    "long)#1}>)";
inline constexpr std::string_view kToFloat =
    "void at::native::vectorized_elementwise_kernel<4, at::native::"
    "bfloat16tofloat32_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(c10::BFloat16)#1}, "
    "std::array<char*, 2ul> >(int, at::native::bfloat16tofloat32_copy_kernel_cuda("
    "at::TensorIteratorBase&)::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul>)";
inline constexpr std::string_view kArgMax =
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<"
    "float>, unsigned int, long, 4, 4> >(at::native::ReduceOp<float, at::native::ArgMaxOps<float>, "
    "unsigned int, long, 4, 4>)";
inline constexpr std::string_view kCrossDeviceReduce =
    "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(vllm::RankData*, vllm::RankSignals, "
    "vllm::Signal*, __nv_bfloat16*, int, int)";
inline constexpr std::string_view kNcclAllReduce =
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

// Names that real files hold and that readers trip over: mangled, quoted, escaped, UTF-8.
inline constexpr std::string_view kMangledSilu =
    "_ZN4vllm18act_and_mul_kernelIN3c108BFloat16ETnPFT_RKS3_EXadL_ZNS_11silu_kernelIS2_EES3_S5_EE"
    "Lb1EEEvPS3_PS4_i";
inline constexpr std::string_view kOddSlotMapping =
    "_compute \"slot\" mapping\\kernel<\xce\xbb\xe2\x86\x92\xcf\x80>\tv2\n";

}  // namespace layerscope::gen

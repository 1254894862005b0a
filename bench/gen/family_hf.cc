// Qwen2 under transformers, eager: every step of a norm, of rotary and of the MLP is a kernel.

#include "bench/gen/family.h"
#include "bench/gen/kernel_names.h"

namespace layerscope::gen {
namespace {

constexpr std::string_view kToFloat32 =
    "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::"
    "TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#7}::operator()() const::"
    "{lambda(float)#1}, std::array<char*, 2ul>, 4, TrivialOffsetCalculator<1, unsigned int> >(int)";
constexpr std::string_view kPow =
    "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::"
    "pow_tensor_scalar_kernel_impl<float, float>(at::TensorIteratorBase&, float)::{lambda(float)"
    "#1}, std::array<char*, 2ul> >(int)";
constexpr std::string_view kMean =
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, "
    "float, float, float>, unsigned int, float, 4> >(at::native::ReduceOp<float>)";
constexpr std::string_view kAddEpsilon =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctorOnSelf_add<float>, "
    "std::array<char*, 2ul> >(int, at::native::CUDAFunctorOnSelf_add<float>)";
constexpr std::string_view kRsqrt =
    "void at::native::vectorized_elementwise_kernel<4, at::native::rsqrt_kernel_cuda(at::"
    "TensorIteratorBase&)::{lambda()#2}::operator()() const::{lambda(float)#1}, std::array<char*, "
    "2ul> >(int)";
constexpr std::string_view kMulFloat =
    "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::"
    "BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> > >(at::"
    "TensorIteratorBase&)>(int)";
constexpr std::string_view kToBf16 =
    "void at::native::vectorized_elementwise_kernel<4, at::native::bfloat16_copy_kernel_cuda(at::"
    "TensorIteratorBase&)::{lambda(float)#1}, std::array<char*, 2ul> >(int)";
constexpr std::string_view kMulBf16 =
    "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::"
    "BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, at::native::binary_internal::"
    "MulFunctor<float> > >(at::TensorIteratorBase&)>(int)";
constexpr std::string_view kMulWhole =
    "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<c10::BFloat16, "
    "c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> >, std::array<"
    "char*, 3ul> >(int)";
constexpr std::string_view kAdd =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>)";
constexpr std::string_view kNeg =
    "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::"
    "neg_kernel_cuda(at::TensorIteratorBase&)::{lambda(c10::BFloat16)#1}>(at::TensorIteratorBase&)"
    ">(int)";
constexpr std::string_view kCat =
    "void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous namespace)"
    "::OpaqueType<2u>, unsigned int, 4, 64, 64>(at::native::(anonymous "
    "namespace)::OpaqueType<2u>*)";
constexpr std::string_view kSilu =
    "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::"
    "silu_kernel(at::TensorIteratorBase&)::{lambda()#1}::operator()() const::{lambda(c10::BFloat16)"
    "#1}, std::array<char*, 2ul> >(int)";
constexpr std::string_view kGemm =
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_"
    "segment_k_off_kernel__5x_cublas";
constexpr std::string_view kFlash =
    "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, "
    "false, false, cutlass::bfloat16_t>, false, true, false, false, true, true, false>("
    "pytorch_flash::Flash_fwd_params)";

constexpr Row kNorm[] = {{kToFloat32, 24, Work::kNorm}, {kPow, 22, Work::kNorm},
                         {kMean, 30, Work::kNorm},      {kAddEpsilon, 16, Work::kNorm},
                         {kRsqrt, 16, Work::kNorm},     {kMulFloat, 26, Work::kNorm},
                         {kToBf16, 22, Work::kNorm},    {kMulBf16, 24, Work::kNorm}};
constexpr Row kProject[] = {
    {kGemm, 120, Work::kGemm}, {kGemm, 60, Work::kGemm}, {kGemm, 60, Work::kGemm}};
constexpr Row kRotate[] = {{kMulBf16, 24}, {kNeg, 20}, {kCat, 26}, {kMulBf16, 24}, {kAdd, 22}};
constexpr Row kAttend[] = {
    {kCat, 40}, {kCat, 40}, {kFlash, 210, Work::kMixer}, {kGemm, 100, Work::kGemm}, {kAdd, 24}};
constexpr Row kMlp[] = {{kGemm, 200, Work::kGemm}, {kSilu, 26, Work::kFfn},
                        {kGemm, 200, Work::kGemm}, {kMulWhole, 26},
                        {kGemm, 180, Work::kGemm}, {kAdd, 24}};
constexpr Row kHead[] = {
    {"void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, unsigned "
     "int, 2, 2, -2, true>(at::cuda::detail::TensorInfo<c10::BFloat16, unsigned int>)",
     50, Work::kEmbed}};
constexpr Row kLogits[] = {{kGemm, 500, Work::kGemm, kOutsideGraph}};

// The final norm, then the logits.
const std::vector<Row>& Tail() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> made(std::begin(kNorm), std::end(kNorm));
    made.insert(made.end(), std::begin(kLogits), std::end(kLogits));
    return made;
  }();
  return rows;
}

}  // namespace

const Family& HfEager() {
  static const Family family = {
      .name = "hf_eager",
      .profile = "generic_addnorm",
      .anchor = "flash_fwd_kernel",
      .model_class = "Qwen2ForCausalLM",
      .layer_class = "Qwen2DecoderLayer",
      .mixer_class = "Qwen2SdpaAttention",
      .ffn_class = "Qwen2MLP",
      .layers = 24,
      .prelude = {},
      .head = kHead,
      .tail = Tail(),
      .forms =
          {{'d', "FULL", -1, "", {{kNorm, kProject, kRotate, kRotate, kAttend}, {kNorm, kMlp}}}},
      .prefix = "",
      .cycle = "d",
      .config = {.members = R"("architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2",
    "hidden_size": 1024, "num_attention_heads": 16, "num_key_value_heads": 16,
    "intermediate_size": 2816, "vocab_size": 151936, "torch_dtype": "bfloat16")"}};
  return family;
}

}  // namespace layerscope::gen

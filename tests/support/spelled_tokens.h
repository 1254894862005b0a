#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/layers/segmentation.h"

namespace layerscope::layers {

/// One kernel a letter: equal letters are equal names.
inline std::vector<Token> TokensOf(std::string_view letters) {
  std::vector<Token> tokens;
  for (const char letter : letters) {
    Token token;
    token.name = static_cast<uint32_t>(letter);
    tokens.push_back(token);
  }
  return tokens;
}

/// Passes spelled by hand for tests: words for kernels with real names, in sequence. `layer` words
/// are repeated with `*n`-free loops of the test itself; an unknown word is a kernel of that name.
class SpelledTokens {
 public:
  SpelledTokens() = default;

  /// Appends words that are parted by spaces.
  SpelledTokens& Add(std::string_view words) {
    while (!words.empty()) {
      const size_t end = words.find(' ');
      if (end != 0) AddWord(words.substr(0, end));
      if (end == std::string_view::npos) break;
      words.remove_prefix(end + 1);
    }
    return *this;
  }

  /// Appends the words `n` times.
  SpelledTokens& Repeat(int n, std::string_view words) {
    for (int i = 0; i < n; ++i) Add(words);
    return *this;
  }

  /// Marks all kernels of a word as anchors.
  SpelledTokens& Anchor(std::string_view word) {
    const auto id = ids_.find(std::string(word));
    for (Token& token : tokens_) token.anchor |= id != ids_.end() && token.name == id->second;
    return *this;
  }

  /// The next kernel begins a piece of a capture.
  SpelledTokens& Seam() {
    seam_ = true;
    return *this;
  }

  const std::vector<Token>& tokens() const { return tokens_; }
  uint32_t size() const { return static_cast<uint32_t>(tokens_.size()); }

 private:
  static std::string_view KernelName(std::string_view word) {
    static const std::map<std::string_view, std::string_view> kNames = {
        {"norm", "void vllm::rms_norm_kernel<c10::BFloat16, 8, 2>(c10::BFloat16*)"},
        {"addnorm", "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*)"},
        {"arnorm", "allreduce_fusion_kernel_oneshot_lamport"},
        {"layernorm", "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<x>(y)"},
        {"qknorm", "fusedQKNormRopeKernel"},
        {"qkv", "nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT"},
        {"out", "nvjet_tst_144x128_64x6_2x1_v_bz_bias_TNN"},
        {"up", "nvjet_tst_128x64_64x8_1x2_h_bz_TNT"},
        {"down", "nvjet_tst_96x64_64x10_1x2_h_bz_bias_TNN"},
        {"head", "nvjet_tst_192x8_64x8_4x1_v_bz_TNT"},
        {"rope", "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)"},
        {"cache", "void vllm::reshape_and_cache_flash_kernel<x>(y)"},
        {"attn", "void flash_fwd_kernel<x>(y)"},
        {"window", "fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvSlidingOrChunkedCausal"},
        {"combine", "void flash_fwd_splitkv_combine_kernel<x>(y)"},
        {"gdn", "fused_recurrent_gated_delta_rule_fwd_kernel"},
        {"conv", "_causal_conv1d_update_kernel"},
        {"mamba", "_selective_scan_update_kernel"},
        {"act", "void vllm::act_and_mul_kernel<c10::BFloat16>(x)"},
        {"gelu",
         "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl"
         "(x)::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int)"},
        {"route", "void vllm::moe::topkGatingSoftmax<8>(x)"},
        {"experts", "fused_moe_kernel"},
        {"reduce", "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(vllm::RankData*)"},
        {"embed", "void at::native::vectorized_gather_kernel<16, long>(char*)"},
        {"sample", "void flashinfer::sampling::TopPSamplingFromProbKernel<x>(y)"},
        {"add",
         "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<"
         "c10::BFloat16>, std::array<char*, 3ul> >(int)"},
        {"cast",
         "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda"
         "(x)::{lambda(float)#1}, std::array<char*, 2ul>, 4>(int)"},
        {"pow",
         "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous "
         "namespace)::pow_tensor_scalar_kernel_impl<float, float>(x)::{lambda(float)#1}, "
         "std::array<char*, 2ul> >(int)"},
        {"mean",
         "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::"
         "MeanOps<float, float, float, float>, unsigned int, float, 4, 4> >(x)"},
        {"eps",
         "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctorOnSelf_"
         "add<float>, std::array<char*, 2ul> >(int)"},
        {"rsqrt",
         "void at::native::vectorized_elementwise_kernel<4, at::native::rsqrt_kernel_cuda"
         "(x)::{lambda(float)#1}, std::array<char*, 2ul> >(int)"},
        {"mul",
         "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<"
         "at::native::BinaryFunctor<float, float, float, at::native::binary_internal::"
         "MulFunctor<float> > >(x)::{lambda(int)#1}>(int)"},
        {"backward", "void at::native::layer_norm_grad_input_kernel<x>(y)"},
    };
    const auto it = kNames.find(word);
    return it == kNames.end() ? word : it->second;
  }

  void AddWord(std::string_view word) {
    const auto [it, is_new] = ids_.emplace(std::string(word), static_cast<uint32_t>(ids_.size()));
    Token token;
    token.name = it->second;
    token.row = size();
    token.traits = ClassifyKernel(KernelName(word));
    token.seam_before = seam_;
    seam_ = false;
    tokens_.push_back(token);
  }

  std::map<std::string, uint32_t> ids_;
  std::vector<Token> tokens_;
  bool seam_ = false;
};

using Positions = std::vector<uint32_t>;

/// A decoder's layer of ten kernels, the first one of a model and the others, whose norm is fused
/// with the addition before it.
inline constexpr const char* kFirst = "norm qkv rope cache attn out addnorm up act down";
inline constexpr const char* kLayer = "addnorm qkv rope cache attn out addnorm up act down";

/// `n` positions from `first` on.
inline Positions Every(uint32_t first, uint32_t step, uint32_t n) {
  Positions positions;
  for (uint32_t i = 0; i < n; ++i) positions.push_back(first + i * step);
  return positions;
}

}  // namespace layerscope::layers

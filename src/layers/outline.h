#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/layers/segmentation.h"

namespace layerscope::layers {

/// One norm over the residual stream: a fused kernel, or the kernels that make one up (eager
/// PyTorch's cast, pow, mean, add, rsqrt, mul; moments and scaling).
struct NormUnit {
  uint32_t begin = 0;
  uint32_t end = 0;
};

/// Where tokens are mixed: a mixer kernel, or a seam between two pieces of a capture.
struct MixPoint {
  uint32_t at = 0;    ///< the mixer's token; at a seam the first token behind it
  uint32_t next = 0;  ///< first token behind the mixer
  bool seam = false;
};

/// What the rules of formats/layer_finding.md look at, taken from a pass's tokens once: positions
/// of mixers, FFN kernels and norms, and counts of GEMMs.
struct Outline {
  explicit Outline(std::span<const Token> all);

  std::span<const Token> tokens;
  std::vector<MixPoint> mixers;
  std::vector<uint32_t> ffn;        ///< FFN kernels
  std::vector<NormUnit> norms;      ///< in order, disjoint
  std::vector<uint32_t> gemm_sum;   ///< [i] = GEMMs among tokens before i
  std::vector<uint32_t> apart;      ///< embeddings and samplers
  bool mixers_are_softmax = false;  ///< no mixer has a name: attention in eager math
  size_t n_backward = 0;
  size_t n_layer_norms = 0;
  size_t n_cache_writes = 0;
  size_t n_samplers = 0;
  size_t n_eager_norms = 0;
  size_t n_decoder_signs = 0;  ///< rotary embeddings, query norms, combines, convolutions, seams

  uint32_t size() const { return static_cast<uint32_t>(tokens.size()); }
  uint32_t GemmsBetween(uint32_t from, uint32_t to) const { return gemm_sum[to] - gemm_sum[from]; }
  bool HasGemm(uint32_t from, uint32_t to) const { return from < to && GemmsBetween(from, to) > 0; }
  /// Index of the first norm that begins at or after `position`; norms.size() when there is none.
  size_t FirstNormFrom(uint32_t position) const;
  /// Index of the first mixer at or after `position`.
  size_t FirstMixerFrom(uint32_t position) const;
  /// Index of the first FFN kernel at or after `position`.
  size_t FirstFfnFrom(uint32_t position) const;
  bool HasMixer(uint32_t from, uint32_t to) const;
  bool HasFfn(uint32_t from, uint32_t to) const;
  bool HasNorm(uint32_t from, uint32_t to) const;
  bool InNorm(uint32_t at) const;  ///< the token is part of a norm
  bool HasApart(uint32_t from, uint32_t to) const;
};

}  // namespace layerscope::layers

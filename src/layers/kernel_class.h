#pragma once

#include <cstdint>
#include <string_view>

namespace layerscope::layers {

/// What a kernel is in the life of a layer, read from its name alone (formats/layer_finding.md,
/// rule 2). Finer than needed by any single rule; categories for tables are another thing.
enum class KernelClass : uint8_t {
  kOther,
  kMixer,        ///< attention, Mamba, GDN, KDA: mixes tokens
  kMixerHelper,  ///< combine, reduce of a split attention, indexer, conv before a scan
  kCacheWrite,
  kFfn,        ///< *_and_mul, silu/gelu, routing, experts
  kNorm,       ///< residual-stream norm, also fused with add, quant or all-reduce
  kInnerNorm,  ///< q/k/rope/gated/kv norms: open nothing
  kGemm,
  kCommunication,
  kEmbedding,
  kSampler,
  kRope,
  kQuant,
  kCopy,
  kElementwise,
};

/// Single operations of eager PyTorch that make up a norm: cast, pow, mean, add, rsqrt, mul.
enum class EagerOp : uint8_t { kNone, kCastToFloat, kCast, kPow, kMean, kAdd, kRsqrt, kMul };

struct KernelTraits {
  KernelClass kind = KernelClass::kOther;
  bool fused_communication = false;  ///< a norm fused with an all-reduce
  bool fused_residual = false;       ///< a norm fused with the residual add
  bool experts = false;              ///< an FFN kernel of a mixture of experts: routing, experts
  bool layer_norm = false;           ///< a LayerNorm, not an RMSNorm
  bool norm_part = false;      ///< the first of two kernels of one norm (moments, then scaling)
  bool mixes_streams = false;  ///< hyper-connections, attention residuals: stands before a norm
  bool state_space = false;    ///< a Mamba mixer
  bool linear = false;         ///< a mixer of a linear attention (GDN, KDA, RWKV) or of Mamba
  bool softmax = false;        ///< a bare softmax: the middle of an attention in eager math
  bool backward = false;       ///< training: backward kernels and optimizers
  EagerOp op = EagerOp::kNone;
};

/// Meant for unique names.
KernelTraits ClassifyKernel(std::string_view kernel_name);

}  // namespace layerscope::layers

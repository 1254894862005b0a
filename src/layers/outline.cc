#include "src/layers/outline.h"

#include <algorithm>

namespace layerscope::layers {
namespace {

/// The kernels of an eager norm around its rsqrt: pow and mean stand right before it (an added eps
/// between), scaling and casts right behind.
constexpr uint32_t kEagerReach = 5;

EagerOp OpAt(std::span<const Token> tokens, uint32_t at) {
  return at < tokens.size() ? tokens[at].traits.op : EagerOp::kNone;
}

/// Begin of the eager norm whose rsqrt stands at `rsqrt`; `rsqrt` itself when it is none.
uint32_t EagerBegin(std::span<const Token> tokens, uint32_t rsqrt) {
  bool mean = false;
  int strangers = 0;  // a kernel of another stream's may stand between
  for (uint32_t back = 1; back <= kEagerReach && back <= rsqrt; ++back) {
    const uint32_t at = rsqrt - back;
    const EagerOp op = OpAt(tokens, at);
    if (op == EagerOp::kMean) mean = true;
    if (op == EagerOp::kNone && ++strangers > 1) return rsqrt;
    if (op != EagerOp::kPow && !(op == EagerOp::kMul && mean)) continue;
    if (!mean) return rsqrt;
    if (at > 0 && OpAt(tokens, at - 1) == EagerOp::kCastToFloat) return at - 1;
    const bool hidden = at > 1 && strangers == 0 && OpAt(tokens, at - 2) == EagerOp::kCastToFloat;
    return hidden ? at - 2 : at;
  }
  return rsqrt;
}

/// x * rsqrt, the cast back and the weight; Gemma's weight is 1 + w.
uint32_t EagerEnd(std::span<const Token> tokens, uint32_t rsqrt) {
  uint32_t end = rsqrt + 1;
  int multiplications = 0;
  while (end < tokens.size() && end <= rsqrt + kEagerReach && multiplications < 2) {
    const EagerOp op = OpAt(tokens, end);
    if (op == EagerOp::kMul) {
      ++multiplications;
    } else if (op != EagerOp::kCast && op != EagerOp::kCastToFloat && op != EagerOp::kAdd) {
      break;
    }
    ++end;
  }
  return end;
}

class NormCollector {
 public:
  NormCollector(std::span<const Token> tokens, std::vector<NormUnit>* norms)
      : tokens_(tokens), norms_(*norms) {}

  void See(uint32_t at) {
    const KernelTraits& traits = tokens_[at].traits;
    if (traits.op == EagerOp::kRsqrt) {
      const uint32_t begin = EagerBegin(tokens_, at);
      if (begin < at) Add(begin, EagerEnd(tokens_, at));
      return;
    }
    if (traits.kind != KernelClass::kNorm) return;
    const bool joins = open_part_ && !norms_.empty() && at <= norms_.back().end + 1;
    open_part_ = traits.norm_part;
    if (joins) {
      norms_.back().end = at + 1;
    } else {
      Add(at, at + 1);
    }
  }

 private:
  void Add(uint32_t begin, uint32_t end) {
    if (!norms_.empty()) begin = std::max(begin, norms_.back().end);
    if (begin < end) norms_.push_back({begin, end});
  }

  std::span<const Token> tokens_;
  std::vector<NormUnit>& norms_;
  bool open_part_ = false;  ///< the last norm waits for its scaling kernel
};

bool AnyBetween(const std::vector<uint32_t>& positions, uint32_t from, uint32_t to) {
  const auto it = std::lower_bound(positions.begin(), positions.end(), from);
  return it != positions.end() && *it < to;
}

}  // namespace

Outline::Outline(std::span<const Token> all) : tokens(all) {
  gemm_sum.reserve(tokens.size() + 1);
  gemm_sum.push_back(0);
  std::vector<MixPoint> softmax;
  NormCollector collector(tokens, &norms);
  for (uint32_t i = 0; i < size(); ++i) {
    const Token& token = tokens[i];
    const KernelClass kind = token.traits.kind;
    if (token.seam_before && i > 0) mixers.push_back({i, i, true});
    gemm_sum.push_back(gemm_sum.back() +
                       (kind == KernelClass::kGemm && !token.side_stream ? 1 : 0));
    if (token.side_stream) continue;
    n_decoder_signs += token.seam_before || kind == KernelClass::kRope ||
                               kind == KernelClass::kInnerNorm || kind == KernelClass::kMixerHelper
                           ? 1
                           : 0;
    n_eager_norms += token.traits.op == EagerOp::kRsqrt ? 1 : 0;
    if (kind == KernelClass::kMixer) mixers.push_back({i, i + 1, false});
    if (token.traits.softmax) softmax.push_back({i, i + 1, false});
    if (kind == KernelClass::kFfn) ffn.push_back(i);
    if (kind == KernelClass::kEmbedding || kind == KernelClass::kSampler) apart.push_back(i);
    n_samplers += kind == KernelClass::kSampler ? 1 : 0;
    n_cache_writes += kind == KernelClass::kCacheWrite ? 1 : 0;
    n_backward += token.traits.backward ? 1 : 0;
    n_layer_norms += token.traits.layer_norm && !token.traits.norm_part ? 1 : 0;
    collector.See(i);
  }
  if (mixers.empty() && !softmax.empty()) {
    mixers = std::move(softmax);
    mixers_are_softmax = true;
  }
}

size_t Outline::FirstNormFrom(uint32_t position) const {
  const auto it =
      std::lower_bound(norms.begin(), norms.end(), position,
                       [](const NormUnit& norm, uint32_t value) { return norm.begin < value; });
  return static_cast<size_t>(it - norms.begin());
}

size_t Outline::FirstFfnFrom(uint32_t position) const {
  return static_cast<size_t>(std::lower_bound(ffn.begin(), ffn.end(), position) - ffn.begin());
}

size_t Outline::FirstMixerFrom(uint32_t position) const {
  const auto it = std::lower_bound(mixers.begin(), mixers.end(), position,
                                   [](const MixPoint& m, uint32_t at) { return m.at < at; });
  return static_cast<size_t>(it - mixers.begin());
}

bool Outline::HasMixer(uint32_t from, uint32_t to) const {
  const size_t index = FirstMixerFrom(from);
  return index < mixers.size() && mixers[index].at < to;
}

bool Outline::HasFfn(uint32_t from, uint32_t to) const {
  return AnyBetween(ffn, from, to);
}

bool Outline::HasApart(uint32_t from, uint32_t to) const {
  return AnyBetween(apart, from, to);
}

bool Outline::HasNorm(uint32_t from, uint32_t to) const {
  const size_t index = FirstNormFrom(from);
  return index < norms.size() && norms[index].begin < to;
}

bool Outline::InNorm(uint32_t at) const {
  const size_t next = FirstNormFrom(at + 1);
  return next > 0 && norms[next - 1].end > at;
}

}  // namespace layerscope::layers

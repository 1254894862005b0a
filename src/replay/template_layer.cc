#include "src/replay/template_layer.h"

#include <algorithm>
#include <array>

#include "src/kernel_names/kernel_name.h"
#include "src/kernel_names/pattern.h"

namespace layerscope::replay {
namespace {

using layers::KernelClass;

bool HasToken(std::string_view type, std::string_view token) {
  while (!type.empty()) {
    const size_t plus = std::min(type.find('+'), type.size());
    if (type.substr(0, plus) == token) return true;
    type.remove_prefix(std::min(plus + 1, type.size()));
  }
  return false;
}

class LayerScan {
 public:
  LayerScan(std::span<const TemplateKernel> kernels, const TemplateNames& names,
            std::string_view type, TemplateSlot* lacking)
      : lacking_(lacking),
        kernels_(kernels),
        names_(names),
        linear_(IsLinearLayer(type)),
        experts_(HasToken(type, "MOE")),
        slots_(kernels.size(), TemplateSlot::kLayer) {}

  std::optional<std::vector<TemplateSlot>> Run() {
    if (linear_ && names_.linear_mixer.empty()) return std::nullopt;
    if (!FindMarks() || !LayMixer() || !LayOutput()) return std::nullopt;
    if (!(experts_ ? LayExperts() : LayDense())) return std::nullopt;
    LayRest();
    return std::move(slots_);
  }

 private:
  KernelClass KindOf(size_t at) const { return kernels_[at].traits.kind; }
  bool Is(size_t at, KernelClass kind) const {
    return !kernels_[at].aside && KindOf(at) == kind && !kernels_[at].reduces_gemm;
  }
  /// The first kernel of `kind` in [from, to), else `to`.
  size_t FindFirst(size_t from, size_t to, KernelClass kind) const {
    while (from < to && !Is(from, kind)) ++from;
    return from;
  }
  std::vector<size_t> All(size_t from, size_t to, KernelClass kind) const {
    std::vector<size_t> found;
    for (size_t at = from; at < to; ++at) {
      if (Is(at, kind)) found.push_back(at);
    }
    return found;
  }
  void Fill(size_t from, size_t to, TemplateSlot slot) {
    for (size_t at = from; at < to; ++at) slots_[at] = slot;
  }
  /// Communication between halves belongs to a linear layer in one engine and to the layer in
  /// another: the layer is right in both.
  void LeaveCommunication(size_t from, size_t to) {
    for (size_t at = from; at < to; ++at) {
      if (Is(at, KernelClass::kCommunication)) slots_[at] = TemplateSlot::kLayer;
    }
  }
  bool HasAny(size_t from, size_t to, std::initializer_list<KernelClass> kinds) const {
    return std::any_of(kinds.begin(), kinds.end(),
                       [&](KernelClass kind) { return FindFirst(from, to, kind) < to; });
  }

  /// One norm may be two kernels (moments, then scaling); its end.
  size_t NormEnd(size_t norm) const {
    const bool two = kernels_[norm].traits.norm_part && norm + 1 < kernels_.size() &&
                     Is(norm + 1, KernelClass::kNorm);
    return norm + (two ? 2 : 1);
  }

  bool FindMarks() {
    const size_t n = kernels_.size();
    input_norm_ = FindFirst(0, n, KernelClass::kNorm);
    mixer_ = FindFirst(0, n, KernelClass::kMixer);
    if (mixer_ == n) return Lacks(TemplateSlot::kAttention);
    if (input_norm_ >= mixer_) return Lacks(TemplateSlot::kInputNorm);
    mixer_end_ = mixer_ + 1;
    for (size_t at = mixer_; at < n && !Is(at, KernelClass::kGemm); ++at) {
      if (Is(at, KernelClass::kMixer) || Is(at, KernelClass::kMixerHelper) ||
          Is(at, KernelClass::kCacheWrite)) {
        mixer_end_ = at + 1;
      }
    }
    // Linear attention in chunks has GEMMs between its mixers.
    for (size_t at = mixer_end_; at < n; ++at) {
      if (Is(at, KernelClass::kMixer)) mixer_end_ = at + 1;
    }
    post_norm_ = FindFirst(mixer_end_, n, KernelClass::kNorm);
    if (post_norm_ == n) return Lacks(TemplateSlot::kPostNorm);
    Fill(input_norm_, NormEnd(input_norm_), TemplateSlot::kInputNorm);
    Fill(post_norm_, NormEnd(post_norm_), TemplateSlot::kPostNorm);
    const size_t after = NormEnd(post_norm_);
    return !HasAny(0, input_norm_, {KernelClass::kGemm, KernelClass::kFfn}) &&
           !HasAny(input_norm_, post_norm_, {KernelClass::kFfn, KernelClass::kSampler}) &&
           !HasAny(after, n, {KernelClass::kNorm, KernelClass::kSampler, KernelClass::kEmbedding});
  }

  /// From the input norm to the end of the attention.
  bool LayMixer() {
    const size_t from = NormEnd(input_norm_);
    Fill(from, mixer_end_, TemplateSlot::kMixer);
    LeaveCommunication(from, mixer_);
    const std::vector<size_t> gemms = All(from, mixer_, KernelClass::kGemm);
    if (gemms.empty()) return false;
    if (linear_ || names_.latent) return true;
    if (gemms.size() == 1) {
      slots_[gemms[0]] = TemplateSlot::kQkvProjection;
    } else if (gemms.size() == 3) {
      slots_[gemms[0]] = TemplateSlot::kQueryProjection;
      slots_[gemms[1]] = TemplateSlot::kKeyProjection;
      slots_[gemms[2]] = TemplateSlot::kValueProjection;
    }
    for (size_t at = from; at < mixer_end_; ++at) {
      if (Is(at, KernelClass::kRope)) slots_[at] = TemplateSlot::kRotary;
      if (Is(at, KernelClass::kMixer) || Is(at, KernelClass::kMixerHelper) ||
          Is(at, KernelClass::kCacheWrite)) {
        slots_[at] = TemplateSlot::kAttention;
      }
    }
    return LayQueryNorms(gemms[0]);
  }

  /// Somewhere between the projection and the end of the attention, on any stream.
  bool MayNormQueries(size_t first_gemm) const {
    for (size_t at = first_gemm; at < mixer_end_; ++at) {
      if (kernels_[at].may_norm) return true;
    }
    return false;
  }
  bool Lacks(TemplateSlot slot) {
    if (lacking_ != nullptr) *lacking_ = slot;
    return false;
  }

  /// Norms of queries and keys: two, in this order, where the family has them.
  bool LayQueryNorms(size_t first_gemm) {
    if (FindFirst(NormEnd(input_norm_), first_gemm, KernelClass::kNorm) < first_gemm) return false;
    std::vector<size_t> norms = All(first_gemm, mixer_, KernelClass::kNorm);
    const std::vector<size_t> inner = All(first_gemm, mixer_, KernelClass::kInnerNorm);
    const bool norms_heads = std::any_of(kernels_.begin(), kernels_.end(),
                                         [](const TemplateKernel& k) { return k.norms_heads; });
    if (!names_.norms_queries) return norms.empty() && !norms_heads;
    if (!MayNormQueries(first_gemm)) return Lacks(TemplateSlot::kQueryNorm);
    norms.insert(norms.end(), inner.begin(), inner.end());
    std::sort(norms.begin(), norms.end());
    if (norms.size() == 2) {
      slots_[norms[0]] = TemplateSlot::kQueryNorm;
      slots_[norms[1]] = TemplateSlot::kKeyNorm;
    }
    return true;
  }

  /// From the attention to the post-attention norm. What follows the projection adds the residual:
  /// the layer's own.
  bool LayOutput() {
    const std::vector<size_t> gemms = All(mixer_end_, post_norm_, KernelClass::kGemm);
    if (gemms.empty()) return false;
    Fill(mixer_end_, gemms.back() + 1, TemplateSlot::kMixer);
    LeaveCommunication(mixer_end_, post_norm_);
    if (gemms.size() == 1 || names_.latent) slots_[gemms.back()] = TemplateSlot::kOutProjection;
    return true;
  }

  bool LayDense() {
    const size_t from = NormEnd(post_norm_), to = kernels_.size();
    std::vector<size_t> parts;
    std::string shape;  // G: GEMM, F: activation
    for (size_t at = from; at < to; ++at) {
      const bool gemm = Is(at, KernelClass::kGemm);
      if (!gemm && !Is(at, KernelClass::kFfn)) continue;
      if (kernels_[at].traits.experts) return false;
      parts.push_back(at);
      shape += gemm ? 'G' : 'F';
    }
    if (shape != "GFG" && shape != "GGFG" && shape != "GFGG") return false;
    Fill(from, parts.back() + 1, TemplateSlot::kFfn);
    LeaveCommunication(from, to);
    slots_[parts.back()] = TemplateSlot::kDownProjection;
    if (shape == "GFG") {
      // One GEMM and a gating activation: merged. With a plain multiplication after the activation
      // the gate alone would stand before it, and the second projection after it.
      slots_[parts[0]] = TemplateSlot::kGateUpProjection;
      slots_[parts[1]] = TemplateSlot::kActivation;
    } else if (shape == "GFGG") {
      slots_[parts[0]] = TemplateSlot::kGateProjection;
      slots_[parts[1]] = TemplateSlot::kActivation;
      slots_[parts[2]] = TemplateSlot::kUpProjection;
    } else {
      slots_[parts[2]] = TemplateSlot::kActivation;
    }
    return true;
  }

  bool LayExperts() {
    const size_t from = NormEnd(post_norm_), to = kernels_.size();
    std::vector<size_t> experts;
    for (size_t at = from; at < to; ++at) {
      if (Is(at, KernelClass::kFfn) && kernels_[at].traits.experts) experts.push_back(at);
    }
    const std::vector<size_t> gemms = All(from, to, KernelClass::kGemm);
    if (experts.empty()) return Lacks(TemplateSlot::kExperts);
    if (gemms.empty()) return Lacks(TemplateSlot::kRouter);
    const bool routed = std::any_of(experts.begin(), experts.end(),
                                    [&](size_t at) { return !kernels_[at].routes; });
    if (!routed) return false;
    Fill(from, std::max(experts.back(), gemms.back()) + 1, TemplateSlot::kFfn);
    LeaveCommunication(from, to);
    for (const size_t at : experts) {
      if (!kernels_[at].routes) slots_[at] = TemplateSlot::kExperts;
    }
    if (names_.shared_experts) return true;  // whose GEMM is first is not said by names
    if (gemms.front() > experts.front()) return false;
    slots_[gemms.front()] = TemplateSlot::kRouter;
    for (size_t at = experts.front(); at < experts.back(); ++at) {
      if (Is(at, KernelClass::kFfn) && !kernels_[at].traits.experts) {
        slots_[at] = TemplateSlot::kExperts;
      }
    }
    return true;
  }

  void LayRest() {
    for (size_t at = 1; at < kernels_.size(); ++at) {
      if (kernels_[at].reduces_gemm && KindOf(at - 1) == KernelClass::kGemm) {
        slots_[at] = slots_[at - 1];
      }
    }
    for (size_t at = 0; at < kernels_.size(); ++at) {
      if (kernels_[at].aside) slots_[at] = TemplateSlot::kLayer;
    }
  }

  TemplateSlot* const lacking_;
  std::span<const TemplateKernel> kernels_;
  const TemplateNames& names_;
  bool linear_;
  bool experts_;
  std::vector<TemplateSlot> slots_;
  size_t input_norm_ = 0, mixer_ = 0, mixer_end_ = 0, post_norm_ = 0;
};

}  // namespace

bool IsLinearLayer(std::string_view type) {
  return HasToken(type, "LINEAR");
}

TemplateKernel ReadTemplateKernel(std::string_view kernel_name) {
  TemplateKernel kernel;
  kernel.traits = layers::ClassifyKernel(kernel_name);
  const std::string own = kernel_names::ToLower(kernel_names::MatchName(kernel_name));
  const auto has = [&](std::string_view word) { return own.find(word) != std::string::npos; };
  kernel.reduces_gemm = kernel.traits.kind == KernelClass::kGemm && has("reduce") &&
                        (has("splitk") || has("split_k"));
  // What Inductor fuses is named by the ops around it: padding before the experts is not theirs.
  const bool inductor = own.starts_with("triton_") && has("_fused_");
  kernel.routes = kernel.traits.experts && (inductor || has("topk") || has("routing") ||
                                            has("gating") || has("bitmatrix") || has("router"));
  // Inductor names what it fuses after the ops, or after nothing but a number; a norm needs a
  // reduction, which `red` and `per` kernels are.
  const bool reduces = own.starts_with("triton_red_") || own.starts_with("triton_per_");
  kernel.may_norm =
      has("norm") || has("rms") || has("rsqrt") || (inductor && reduces) ||
      kernel.traits.kind == KernelClass::kNorm || kernel.traits.kind == KernelClass::kInnerNorm ||
      kernel.traits.op == layers::EagerOp::kRsqrt || kernel.traits.op == layers::EagerOp::kMean;
  kernel.norms_heads = kernel.traits.kind == KernelClass::kInnerNorm &&
                       (has("qk_norm") || has("qknorm") || has("q_norm") || has("k_norm"));
  return kernel;
}

std::optional<std::vector<TemplateSlot>> LayTemplate(std::span<const TemplateKernel> kernels,
                                                     const TemplateNames& names,
                                                     std::string_view type, TemplateSlot* lacking) {
  return LayerScan(kernels, names, type, lacking).Run();
}

std::string PathBelowLayer(TemplateSlot slot, const TemplateNames& names, bool linear) {
  std::string mixer(linear ? names.linear_mixer : names.mixer);
  std::string ffn(names.ffn);
  switch (slot) {
    case TemplateSlot::kLayer:
      return "";
    case TemplateSlot::kInputNorm:
      return "input_layernorm";
    case TemplateSlot::kMixer:
      return mixer;
    case TemplateSlot::kQkvProjection:
      return mixer + ".qkv_proj";
    case TemplateSlot::kQueryProjection:
      return mixer + ".q_proj";
    case TemplateSlot::kKeyProjection:
      return mixer + ".k_proj";
    case TemplateSlot::kValueProjection:
      return mixer + ".v_proj";
    case TemplateSlot::kQueryNorm:
      return mixer + ".q_norm";
    case TemplateSlot::kKeyNorm:
      return mixer + ".k_norm";
    case TemplateSlot::kRotary:
      return mixer + ".rotary_emb";
    case TemplateSlot::kAttention:
      return mixer + ".attn";
    case TemplateSlot::kOutProjection:
      return mixer + (linear ? ".out_proj" : ".o_proj");
    case TemplateSlot::kPostNorm:
      return "post_attention_layernorm";
    case TemplateSlot::kFfn:
      return ffn;
    case TemplateSlot::kRouter:
      return ffn + "." + std::string(names.router);
    case TemplateSlot::kExperts:
      return ffn + ".experts";
    case TemplateSlot::kGateUpProjection:
      return ffn + ".gate_up_proj";
    case TemplateSlot::kGateProjection:
      return ffn + ".gate_proj";
    case TemplateSlot::kUpProjection:
      return ffn + ".up_proj";
    case TemplateSlot::kActivation:
      return ffn + ".act_fn";
    case TemplateSlot::kDownProjection:
      return ffn + ".down_proj";
  }
  return "";
}

}  // namespace layerscope::replay

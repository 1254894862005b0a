#include "src/layers/kernel_class.h"

#include "src/kernel_names/kernel_name.h"
#include "src/kernel_names/pattern.h"
#include "src/layers/kernel_words.h"

namespace layerscope::layers {
namespace {

KernelTraits Kind(KernelClass kind) {
  KernelTraits traits;
  traits.kind = kind;
  return traits;
}

KernelTraits Experts() {
  KernelTraits traits = Kind(KernelClass::kFfn);
  traits.experts = true;
  return traits;
}

bool IsBackward(const KernelWords& name) {
  return name.HasAny({"bwd", "backward", "wgrad", "dgrad", "igemm_wrw", "adamfunctor", "adamw",
                      "fusedadam", "fused_adam", "lambfunctor", "sgdfunctor", "fused_sgd",
                      "optimizer", "grad_input", "_grad_"});
}

// ---- Inductor: triton_{poi,red,per,tem}_fused_<op>_<op>_…_<number>

bool IsInductor(const KernelWords& name) {
  return name.StartsWith("triton_poi_") || name.StartsWith("triton_red_") ||
         name.StartsWith("triton_per_") || name.StartsWith("triton_tem_") ||
         name.StartsWith("triton_for_") || name.StartsWith("triton_spl_");
}

/// True when `op` stands in the name between underscores.
bool HasOp(const KernelWords& name, std::string_view op) {
  for (size_t at = name.own.find(op); at != std::string::npos; at = name.own.find(op, at + 1)) {
    const size_t end = at + op.size();
    const bool begins = at > 0 && name.own[at - 1] == '_';
    if (begins && (end == name.own.size() || name.own[end] == '_')) return true;
  }
  return false;
}

KernelTraits InductorNorm(const KernelWords& name) {
  // silu with a norm is Mamba's and GDN's gated norm.
  if (HasOp(name, "silu")) return Kind(KernelClass::kInnerNorm);
  KernelTraits traits = Kind(KernelClass::kNorm);
  traits.layer_norm = HasOp(name, "native_layer_norm");
  traits.fused_residual = HasOp(name, "add");
  return traits;
}

KernelTraits ClassifyInductor(const KernelWords& name) {
  if (name.StartsWith("triton_tem_")) {
    if (name.Has("attention")) return Kind(KernelClass::kMixer);
    return Kind(KernelClass::kGemm);
  }
  const bool moments = HasOp(name, "mean") && HasOp(name, "pow");
  if (HasOp(name, "rsqrt") || HasOp(name, "rms_norm") || HasOp(name, "native_layer_norm")) {
    return InductorNorm(name);
  }
  if (moments || HasOp(name, "var_mean")) {
    KernelTraits traits = InductorNorm(name);
    traits.norm_part = true;
    return traits;
  }
  if (name.HasAny({"moe_forward", "_moe_", "fused_experts"})) return Experts();
  if (name.HasAny({"silu", "gelu", "swiglu", "_relu"})) return Kind(KernelClass::kFfn);
  if (HasOp(name, "embedding")) return Kind(KernelClass::kEmbedding);
  if (HasOp(name, "softmax")) {
    KernelTraits traits = Kind(KernelClass::kElementwise);
    traits.softmax = true;
    return traits;
  }
  if (HasOp(name, "argmax") || name.Has("multinomial")) return Kind(KernelClass::kSampler);
  if (HasOp(name, "mm") || HasOp(name, "bmm") || HasOp(name, "addmm")) {
    // A reduction kernel that computes a small matrix product; else only a neighbour's name.
    if (name.StartsWith("triton_red_")) return Kind(KernelClass::kGemm);
  }
  return Kind(HasOp(name, "copy") ? KernelClass::kCopy : KernelClass::kElementwise);
}

// ---- norms

/// FlashInfer's and TensorRT-LLM's all-reduce fusion: pattern 0 is the plain all-reduce.
bool IsPlainAllReducePattern(const KernelWords& name) {
  return name.FullHasAny({"allreducefusionpattern)0", "pattern::kallreduce,",
                          "pattern::kallreduce>", "allreducefusionpatterne0e"});
}

bool IsCommunicationName(const KernelWords& name) {
  return name.HasAny({"allreduce",      "all_reduce",  "cross_device_reduce",
                      "reduce_scatter", "nccl",        "lamport",
                      "reducescatter",  "all_gather",  "allgather",
                      "alltoall",       "all_to_all",  "all2all",
                      "sendrecv",       "multimem",    "one_shot",
                      "oneshot",        "two_shot",    "twoshot",
                      "quick_reduce",   "quickreduce", "deep_ep::",
                      "epdispatch",     "epcombine",   "moea2a",
                      "nvshmem",        "rocshmem",    "mscclpp",
                      "userbuffers",    "rccl",        "cross_device"});
}

bool IsLayerNorm(const KernelWords& name) {
  return name.HasAny({"layernorm", "layer_norm", "rowwisemoments"}) && !name.Has("rms") &&
         !name.FullHas("rmsnorm");
}

bool IsInnerNorm(const KernelWords& name) {
  if (name.HasAny({"norm_rope", "normrope", "l2norm", "l2_norm", "layer_norm_fwd_1pass"})) {
    return true;
  }
  if (!name.Has("norm")) return false;
  return name.HasAny({"qk_", "qknorm", "qkv", "gated", "kv_norm", "q_norm", "k_norm", "qnorm",
                      "knorm", "head_norm", "headnorm", "q_a_", "kv_a_", "norm_gate", "normgate",
                      "rope"});
}

/// Mixes of residual streams that open a half: hyper-connections, attention residuals.
bool MixesStreams(const KernelWords& name) {
  return name.HasAny({"mhc_pre_big_fuse", "attn_res_f", "ihc_pre_stage1", "ihc_pre_fuse"});
}

bool IsOpeningNorm(const KernelWords& name) {
  if (MixesStreams(name)) return true;
  if (name.HasAny({"group_norm", "groupnorm", "batch_norm", "batchnorm", "instance_norm",
                   "normtwoops", "weight_norm", "renorm"})) {
    return name.Has("grouped_gemma");
  }
  return name.HasAny({"rms_norm", "rmsnorm", "rms2d", "_rms_", "layernorm", "layer_norm",
                      "add_norm", "addnorm", "rowwisemoments", "norm2d", "rms_kernel", "t5norm"});
}

KernelTraits NormTraits(const KernelWords& name) {
  KernelTraits traits = Kind(KernelClass::kNorm);
  traits.layer_norm = IsLayerNorm(name);
  traits.mixes_streams = MixesStreams(name);
  traits.norm_part = name.Has("rowwisemoments");
  traits.fused_residual =
      name.HasAny({"fused_add", "add_rms", "addrms", "add_norm", "addnorm", "skip", "residual"});
  return traits;
}

bool ClassifyNorm(const KernelWords& name, KernelTraits* traits) {
  if (IsInnerNorm(name)) {
    *traits = Kind(KernelClass::kInnerNorm);
    return true;
  }
  const bool named = name.HasAny({"norm", "rms"});
  const bool fuses = name.Last().find("fusion") != std::string_view::npos;
  if (IsCommunicationName(name) && (named || fuses)) {
    if (!named && IsPlainAllReducePattern(name)) return false;
    *traits = Kind(KernelClass::kNorm);
    traits->fused_communication = true;
    traits->fused_residual = true;
    return true;
  }
  if (name.Has("local_device_load_rms") || IsOpeningNorm(name)) {
    *traits = NormTraits(name);
    traits->fused_communication = name.Has("local_device_load_rms");
    return true;
  }
  return false;
}

// ---- mixers

bool ClassifyMixer(const KernelWords& name, KernelTraits* traits) {
  if (IsCacheWrite(name)) {
    *traits = Kind(KernelClass::kCacheWrite);
  } else if (IsBatchPreparation(name)) {
    *traits = Kind(KernelClass::kOther);
  } else if (IsMixerHelper(name)) {
    *traits = Kind(KernelClass::kMixerHelper);
  } else if (IsLinearAttention(name)) {
    *traits = Kind(KernelClass::kMixer);
    traits->linear = true;
  } else if (HasAttentionWord(name)) {
    *traits = Kind(KernelClass::kMixer);
  } else if (IsStateSpace(name)) {
    *traits = Kind(KernelClass::kMixer);
    traits->linear = traits->state_space = true;
  } else {
    return false;
  }
  return true;
}

// ---- FFN, GEMM and the rest

EagerOp OpOf(const KernelWords& name) {
  if (!name.HasAny({"elementwise_kernel", "reduce_kernel"})) return EagerOp::kNone;
  if (name.Has("<pow") || name.Has("square")) return EagerOp::kPow;
  if (name.Has("<meanops")) return EagerOp::kMean;
  if (name.Has("<rsqrt")) return EagerOp::kRsqrt;
  if (name.HasAny({"<mulfunctor", "<binaryfunctor"})) return EagerOp::kMul;
  if (name.Has("functor") && name.Has("_add")) return EagerOp::kAdd;
  if (name.HasAny({"bfloat16tofloat32", "float16tofloat32", "halftofloat"})) {
    return EagerOp::kCastToFloat;
  }
  if (name.Has("direct_copy") && name.Has("fp32")) return EagerOp::kCastToFloat;
  if (name.HasAny({"bfloat16_copy", "float16_copy", "direct_copy"})) return EagerOp::kCast;
  return EagerOp::kNone;
}

KernelTraits ClassifyRest(const KernelWords& name) {
  KernelTraits traits;
  traits.op = OpOf(name);
  if (name.Has("softmax")) {
    traits.kind = KernelClass::kElementwise;
    traits.softmax = true;
  } else if (name.HasAny({"quant", "fp8_cast", "cast_to_fp8", "hfp8"})) {
    traits.kind = KernelClass::kQuant;
  } else if (name.HasAny({"memcpy", "memset", "direct_copy", "copy_kernel", "copyfunctor",
                          "catarray", "fillfunctor", "fill_kernel", "transpose_kernel"})) {
    traits.kind = KernelClass::kCopy;
  } else if (name.HasAny({"elementwise", "pointwise", "reduce_kernel", "triton_"})) {
    traits.kind = KernelClass::kElementwise;
  }
  return traits;
}

KernelTraits Classify(const KernelWords& name) {
  KernelTraits traits;
  if (IsBackward(name)) {
    traits.backward = true;
    return traits;
  }
  if (IsInductor(name)) return ClassifyInductor(name);
  if (name.HasAny({"mhc_pre_gemm", "mhc_post", "ihc_pre_stage2", "ihc_post"})) return traits;
  if (IsSampler(name)) return Kind(KernelClass::kSampler);
  if (ClassifyNorm(name, &traits)) return traits;
  if (IsExperts(name) && !IsCommunicationName(name) && !HasAttentionWord(name)) return Experts();
  if (IsCommunicationName(name)) return Kind(KernelClass::kCommunication);
  if (ClassifyMixer(name, &traits)) return traits;
  if (IsActivation(name)) return Kind(KernelClass::kFfn);
  if (name.HasAny({"rotary", "rope"})) return Kind(KernelClass::kRope);
  if (IsGemm(name)) return Kind(KernelClass::kGemm);
  if (IsEmbedding(name)) return Kind(KernelClass::kEmbedding);
  return ClassifyRest(name);
}

}  // namespace

KernelTraits ClassifyKernel(std::string_view kernel_name) {
  KernelWords name;
  name.own = kernel_names::ToLower(kernel_names::MatchName(kernel_name));
  name.full = kernel_names::ToLower(kernel_names::Demangle(kernel_name))
                  .substr(0, kernel_names::kMaxMatchBytes);
  return Classify(name);
}

}  // namespace layerscope::layers

#include "bench/gen/replay_plan.h"

#include <string_view>

namespace layerscope::gen {
namespace {

using Kind = PlanItem::Kind;

// Names as ROCm and CUPTI report them under SGLang and vLLM; `%` stands for the tile's batch side.
struct Names {
  std::string_view norm, add_norm, qk_norm, rotary, cache, attention, reduce, silu, gemm, gather,
      top_k, align, expert, sum, add, patch, vision_attention;
};

constexpr Names kRocm = {
    "_ZN5aiter20rmsnorm_quant_kernelIDF16bDF16bLi256ELi16EEEvPT0_PT_S4_fiii",
    "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb1EEEvPT0_PT_S4_S4_S4_dfiii",
    "_ZN5aiter20rmsnorm_quant_kernelIDF16bDF16bLi64ELi8EEEvPT0_PT_S4_fiii",
    "void sgl_hip::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*)",
    "void (anonymous namespace)::store_kvcache<2048l, 4>(StoreKVCacheParams)",
    "_ZN5aiter33paged_attention_ll4mi_QKV_mfma16_kernelI14__hip_bfloat16Li128ELi256EEEvPKT_",
    "_ZN5aiter35paged_attention_ll4mi_reduce_kernelI14__hip_bfloat16Li128EEEvPT_PKf",
    "void sgl_hip::activation::act_and_mul_kernel<__hip_bfloat16, silu>(__hip_bfloat16*)",
    "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT*x%x128_MI16x16x1_SN_LDSB1",
    "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long)",
    "void vllm::moe::topkGatingSoftmax<8, 128, 4, 16, 64>(float const*, bool const*, float*)",
    "void sgl_hip::moe_align_block_size_kernel<int>(int const*, int*, int*, int*, int)",
    "fused_moe_kernel",
    "_moe_sum_reduce_kernel",
    "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<c10::BFloat16> >"
    "(int, at::native::CUDAFunctor_add<c10::BFloat16>)",
    "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB0",
    "_ZN5aiter26fmha_fwd_hd80_bf16_a32_rtzE"};

constexpr Names kCuda = {
    "void flashinfer::norm::RMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*, __nv_bfloat16*)",
    "void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*)",
    "void flashinfer::norm::RMSNormKernel<4u, __nv_bfloat16>(__nv_bfloat16*, __nv_bfloat16*)",
    "void flashinfer::BatchQKApplyRotaryPosIdsCosSinCacheHeadParallelismKernel<true, 128u, 8u>()",
    "void (anonymous namespace)::store_kvcache<2048l, 4, false, long>(StoreKVCacheParams)",
    "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<128> > >()",
    "void cutlass::device_kernel<flash::enable_sm80_to_sm100<flash::FlashAttnFwdCombine<8> > >()",
    "void flashinfer::activation::act_and_mul_kernel<__nv_bfloat16, silu>(__nv_bfloat16*)",
    "nvjet_tst_*x%_64x16_4x1_v_bz_TNT",
    "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long)",
    "void topkGatingSoftmax<float, 8, 128, 4, 16>(float const*, bool const*, float*, int)",
    "void moe_align_block_size_kernel<int>(int const*, int*, int*, int*, int, int, int)",
    "fused_moe_kernel",
    "_moe_sum_reduce_kernel",
    "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<c10::BFloat16> >"
    "(int, at::native::CUDAFunctor_add<c10::BFloat16>)",
    "nvjet_tst_256x128_64x4_2x1_v_bz_coopA_TNN",
    "void cutlass::device_kernel<flash::FlashAttnFwdSm90<80> >()"};

class Planner {
 public:
  Planner(const ReplayOptions& options, int64_t batch)
      : o_(options), batch_(batch), n_(options.amd() ? kRocm : kCuda) {}

  Plan Forward();
  Plan Draft();

 private:
  void Open(std::string_view module_class, const std::string& path, bool kept = false) {
    plan_.push_back({Kind::kOpenModule, std::string(module_class), path, 0, side_, !kept});
  }
  void Close() { plan_.push_back({Kind::kCloseModule, "", "", 0, side_}); }
  void Op(std::string_view op, std::string_view kernel, int64_t work_ns) {
    plan_.push_back({Kind::kOpenOp, std::string(op), "", 0, side_});
    plan_.push_back({Kind::kKernel, std::string(kernel), "", work_ns, side_});
    plan_.push_back({Kind::kCloseOp, "", "", 0, side_});
  }
  void Module(std::string_view module_class, const std::string& path, std::string_view op,
              std::string_view kernel, int64_t work_ns) {
    Open(module_class, path);
    Op(op, kernel, work_ns);
    Close();
  }
  std::string Gemm(std::string_view rows) const;
  void Linear(std::string_view module_class, const std::string& path, std::string_view rows,
              int64_t work_ns);
  void LinearOps(std::string_view rows, int64_t work_ns);
  void Vision();
  void Layer(int64_t layer, const std::string& root);
  void Attention(const std::string& root, const std::string& path);
  void PagedAttention(const std::string& path);
  void Mlp(const std::string& path, std::string_view module_class);
  void Experts(const std::string& path);
  void SharedExperts(const std::string& path);
  void Copy();

  const ReplayOptions& o_;
  int64_t batch_;
  const Names& n_;
  Plan plan_;
  bool side_ = false;
};

std::string Planner::Gemm(std::string_view rows) const {
  const std::string columns = std::to_string(o_.tiles_by_batch ? batch_ : 16);
  std::string name;
  for (const char c : n_.gemm) {
    if (c == '*') {
      name += rows;
    } else if (c == '%') {
      name += columns;
    } else {
      name += c;
    }
  }
  return name;
}

void Planner::LinearOps(std::string_view rows, int64_t work_ns) {
  plan_.push_back({Kind::kOpenOp, "aten::linear", "", 0, side_});
  plan_.push_back({Kind::kOpenOp, "aten::t", "", 0, side_});
  plan_.push_back({Kind::kCloseOp, "", "", 0, side_});
  plan_.push_back({Kind::kOpenOp, "aten::matmul", "", 0, side_});
  Op("aten::mm", Gemm(rows), work_ns);
  plan_.push_back({Kind::kCloseOp, "", "", 0, side_});
  plan_.push_back({Kind::kCloseOp, "", "", 0, side_});
}

void Planner::Linear(std::string_view module_class, const std::string& path, std::string_view rows,
                     int64_t work_ns) {
  Open(module_class, path);
  LinearOps(rows, work_ns);
  Close();
}

void Planner::Copy() {
  if (o_.copies == ReplayOptions::Copies::kNone) return;
  plan_.push_back({Kind::kOpenOp, "aten::copy_", "", 0, side_});
  plan_.push_back({Kind::kCopy, "", "", 1900, side_});
  plan_.push_back({Kind::kCloseOp, "", "", 0, side_});
}

void Planner::PagedAttention(const std::string& path) {
  plan_.push_back({Kind::kBreak, "", "", 0, side_});
  Open("RadixAttention", path);
  plan_.push_back({Kind::kOpenOp, "vllm::unified_attention_with_output", "", 0, side_});
  Op("sgl_kernel::store_cache", n_.cache, 2900);
  plan_.push_back({Kind::kKernel, std::string(n_.attention), "", 31000, side_});
  plan_.push_back({Kind::kKernel, std::string(n_.reduce), "", 4100, side_});
  plan_.push_back({Kind::kCloseOp, "", "", 0, side_});
  Close();
  plan_.push_back({Kind::kBreak, "", "", 0, side_});
}

void Planner::Attention(const std::string& root, const std::string& path) {
  Open("Qwen3Attention", path);
  Linear("QKVParallelLinear", path + ".qkv_proj", "64", 21000);
  Module("RMSNorm", path + ".q_norm", "sgl_kernel::rmsnorm", n_.qk_norm, 3100);
  Module("RMSNorm", path + ".k_norm", "sgl_kernel::rmsnorm", n_.qk_norm, 2700);
  // One object serves every layer.
  Module("RotaryEmbedding", root + ".layers.0.self_attn.rotary_emb", "sgl_kernel::rotary_embedding",
         n_.rotary, 3300);
  PagedAttention(path + ".attn");
  Linear("RowParallelLinear", path + ".o_proj", "32", 17000);
  Close();
}

void Planner::Mlp(const std::string& path, std::string_view module_class) {
  Open(module_class, path);
  Linear("MergedColumnParallelLinear", path + ".gate_up_proj", "128", 42000);
  Module("SiluAndMul", path + ".act_fn", "sgl_kernel::silu_and_mul", n_.silu, 5200);
  Linear("RowParallelLinear", path + ".down_proj", "32", 24000);
  Close();
}

// A branch of the graph on a stream of its own. With shared names it is made of the main branch's.
void Planner::SharedExperts(const std::string& path) {
  if (o_.branches == ReplayOptions::Branches::kNone) return;
  side_ = true;
  Open("SharedExperts", path);
  if (o_.branches == ReplayOptions::Branches::kShared) {
    Linear("MergedColumnParallelLinear", path + ".gate_up_proj", "128", 12000);
    Module("SiluAndMul", path + ".act_fn", "sgl_kernel::silu_and_mul", n_.silu, 3000);
    Linear("RowParallelLinear", path + ".down_proj", "32", 11000);
  } else {
    Module("GatedLinear", path + ".gated", "sgl_kernel::shared_gate_up",
           "_shared_experts_gate_up_kernel", 12000);
    Module("GatedLinear", path + ".output", "sgl_kernel::shared_down",
           "_shared_experts_down_kernel", 11000);
  }
  Close();
  side_ = false;
}

void Planner::Experts(const std::string& path) {
  Open("Qwen3MoeSparseMoeBlock", path);
  SharedExperts(path + ".shared_experts");
  Linear("ReplicatedLinear", path + ".gate", "16", 6000);
  Module("TopK", path + ".topk", "sgl_kernel::topk_softmax", n_.top_k, 4400);
  Open("FusedMoE", path + ".experts");
  plan_.push_back({Kind::kOpenOp, "sglang::inplace_fused_experts", "", 0, side_});
  Op("sgl_kernel::moe_align_block_size", n_.align, 3000);
  plan_.push_back({Kind::kKernel, std::string(n_.expert), "", 61000, side_});
  Op("sgl_kernel::silu_and_mul", n_.silu, 4000);
  plan_.push_back({Kind::kKernel, std::string(n_.expert), "", 39000, side_});
  plan_.push_back({Kind::kKernel, std::string(n_.sum), "", 3800, side_});
  plan_.push_back({Kind::kCloseOp, "", "", 0, side_});
  Close();
  Close();
}

void Planner::Layer(int64_t layer, const std::string& root) {
  const bool moe = o_.family == ReplayOptions::Family::kMoe;
  const std::string path = root + ".layers." + std::to_string(layer);
  Open(moe ? "Qwen3MoeDecoderLayer" : "Qwen3DecoderLayer", path);
  Module("RMSNorm", path + ".input_layernorm",
         layer == 0 ? "sgl_kernel::rmsnorm" : "sgl_kernel::fused_add_rmsnorm",
         layer == 0 ? n_.norm : n_.add_norm, 4600);
  Attention(root, path + ".self_attn");
  Module("RMSNorm", path + ".post_attention_layernorm", "sgl_kernel::fused_add_rmsnorm",
         n_.add_norm, 4700);
  if (layer % 2 == 0) Copy();
  if (moe) {
    Experts(path + ".mlp");
  } else {
    SharedExperts(path + ".adapter");
    Mlp(path + ".mlp", "Qwen2MLP");
  }
  Close();
}

void Planner::Vision() {
  Open("Qwen3VisionTransformer", "visual");
  Module("PatchEmbed", "visual.patch_embed", "aten::conv3d", n_.patch, 90000);
  for (int64_t block = 0; block < 2; ++block) {
    const std::string path = "visual.blocks." + std::to_string(block);
    Open("Qwen3VisionBlock", path);
    Module("VisionAttention", path + ".attn", "aten::scaled_dot_product_attention",
           n_.vision_attention, 70000);
    Module("VisionMLP", path + ".mlp", "aten::addmm", n_.patch, 80000);
    Close();
  }
  Close();
}

Plan Planner::Forward() {
  const bool moe = o_.family == ReplayOptions::Family::kMoe;
  Open(moe ? "Qwen3MoeForCausalLM" : "Qwen3ForCausalLM", "", true);
  if (o_.vision) Vision();
  Open(o_.compiled ? "GraphModule" : moe ? "Qwen3MoeModel" : "Qwen3Model", "model", true);
  Module("VocabParallelEmbedding", "model.embed_tokens", "aten::embedding", n_.gather, 5000);
  for (int64_t layer = 0; layer < o_.layers; ++layer) Layer(layer, "model");
  Module("RMSNorm", "model.norm", "sgl_kernel::fused_add_rmsnorm", n_.add_norm, 4800);
  Close();
  Open("LogitsProcessor", "logits_processor");
  LinearOps("256", 180000);
  Close();
  Close();
  return std::move(plan_);
}

Plan Planner::Draft() {
  Open("Qwen3ForCausalLMEagle", "draft", true);
  Module("VocabParallelEmbedding", "draft.embed_tokens", "aten::embedding", n_.gather, 4900);
  Linear("ReplicatedLinear", "draft.fc", "16", 9000);
  Layer(0, "draft");
  Close();
  return std::move(plan_);
}

}  // namespace

Plan PlanForward(const ReplayOptions& options, int64_t batch) {
  return Planner(options, batch).Forward();
}

Plan PlanDraft(const ReplayOptions& options, int64_t batch) {
  return Planner(options, batch).Draft();
}

}  // namespace layerscope::gen

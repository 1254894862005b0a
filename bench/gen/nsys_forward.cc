#include "bench/gen/nsys_forward.h"

namespace layerscope::gen {
namespace {

using Kind = NsysItem::Kind;

constexpr std::string_view kEmbed =
    "void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, unsigned "
    "int, 2, 2, -2, true>(at::cuda::detail::TensorInfo<c10::BFloat16, unsigned int>)";
constexpr std::string_view kNorm = "void vllm::rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*)";
constexpr std::string_view kAddNorm =
    "std::enable_if<((8)>(0)), void>::type vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>("
    "c10::BFloat16*)";
constexpr std::string_view kRotary =
    "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*)";
constexpr std::string_view kAttention =
    "void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4>, false>("
    "flash::Flash_fwd_params)";
constexpr std::string_view kCombine =
    "void flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4>, 4>("
    "flash::Flash_fwd_params)";
constexpr std::string_view kActivation =
    "void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel<c10::BFloat16>, true>("
    "c10::BFloat16*)";
constexpr std::string_view kAllReduce =
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

class Planner {
 public:
  Planner(const NsysOptions& options, int64_t tokens, bool graph, NsysNames* names,
          NsysModules* modules)
      : o_(options), tokens_(tokens), graph_(graph), names_(*names), modules_(*modules) {}

  std::vector<NsysItem> Plan() {
    Open("model");
    if (graph_ && o_.graph_copies) Copy(Kind::kCopy, "Memcpy DtoD", 1200);
    Open("model.embed_tokens");
    Kernel(kEmbed, "aten::embedding", 5000);
    Close();
    for (int64_t layer = 0; layer < o_.layers; ++layer)
      PlanLayer("model.layers." + std::to_string(layer));
    Leaf("model.norm", Kind::kNorm, kAddNorm, "_C::fused_add_rms_norm", 5200);
    Close();
    Leaf("lm_head", Kind::kKernel, "nvjet_tst_192x192_64x4_2x1_v_bz_TNT", "aten::mm", 41000);
    return std::move(items_);
  }

 private:
  void PlanLayer(const std::string& path) {
    Open(path);
    Leaf(path + ".input_layernorm", Kind::kNorm, kNorm, "_C::rms_norm", 5200);
    Open(path + ".self_attn");
    Leaf(path + ".self_attn.qkv_proj", Kind::kKernel, "nvjet_tst_128x64_64x8_2x1_v_bz_TNT",
         "aten::linear", 16000);
    Kernel(kRotary, "_C::rotary_embedding", 6100);
    PlanAttention(path + ".self_attn.attn");
    Open(path + ".self_attn.o_proj");
    Kernel("nvjet_tst_64x64_64x13_1x2_h_bz_TNT", "aten::linear", 11000);
    AllReduce();
    Close();
    Close();
    Leaf(path + ".post_attention_layernorm", Kind::kNorm, kAddNorm, "_C::fused_add_rms_norm", 5200);
    Open(path + ".mlp");
    Leaf(path + ".mlp.gate_up_proj", Kind::kKernel, "nvjet_tst_192x128_64x6_2x1_v_bz_TNT",
         "aten::linear", 30000);
    Leaf(path + ".mlp.act_fn", Kind::kKernel, kActivation, "_C::silu_and_mul", 6400);
    Open(path + ".mlp.down_proj");
    Kernel("nvjet_tst_64x64_64x13_1x2_h_bz_TNT", "aten::linear", 19000);
    AllReduce();
    Close();
    Close();
    Close();
  }

  void PlanAttention(const std::string& path) {
    Open(path);
    if (graph_ && o_.graph_copies) Copy(Kind::kSet, "Memset", 900);
    for (int64_t i = 0; i < o_.branches; ++i)
      Add(Kind::kBeside, "reshape_and_cache_flash_kernel", "_C_cache_ops::reshape_and_cache_flash",
          2600);
    Kernel(kAttention, "vllm::unified_attention_with_output", 24000);
    Kernel(kCombine, "vllm::unified_attention_with_output", 5600);
    Close();
  }

  void AllReduce() {
    if (o_.all_reduce) Add(Kind::kComm, kAllReduce, "vllm::all_reduce", o_.comm_work);
  }
  void Open(const std::string& path) {
    NsysItem& item = items_.emplace_back();
    item.kind = Kind::kOpen;
    item.module = modules_.Id(path);
  }
  void Close() { items_.emplace_back().kind = Kind::kClose; }
  void Leaf(const std::string& path, Kind kind, std::string_view name, std::string_view op,
            int64_t work_ns) {
    Open(path);
    Add(kind, name, op, work_ns);
    Close();
  }
  void Kernel(std::string_view name, std::string_view op, int64_t work_ns) {
    Add(Kind::kKernel, name, op, work_ns);
  }
  void Copy(Kind kind, std::string_view name, int64_t work_ns) {
    Add(kind, name, kind == Kind::kCopy ? "aten::copy_" : "aten::zero_", work_ns);
  }
  void Add(Kind kind, std::string_view name, std::string_view op, int64_t work_ns) {
    NsysItem& item = items_.emplace_back();
    item.kind = kind;
    item.name = names_.Id(name);
    item.op = names_.Id(op);
    // Even times, as all lengths are.
    item.work_ns = (work_ns + (kind == Kind::kKernel ? tokens_ * 3 : 0)) / 2 * 2;
  }

  const NsysOptions& o_;
  int64_t tokens_;
  bool graph_;
  NsysNames& names_;
  NsysModules& modules_;
  std::vector<NsysItem> items_;
};

}  // namespace

int32_t NsysModules::Id(std::string_view path) {
  const auto found = ids_.find(path);
  if (found != ids_.end()) return found->second;
  int32_t parent = kNsysNone;
  for (size_t dot = path.rfind('.'); dot != std::string_view::npos && parent == kNsysNone;
       dot = dot == 0 ? std::string_view::npos : path.rfind('.', dot - 1)) {
    const auto above = ids_.find(path.substr(0, dot));
    if (above != ids_.end()) parent = above->second;
  }
  const auto id = static_cast<int32_t>(paths_.size());
  paths_.emplace_back(path);
  parents_.push_back(parent);
  ids_.emplace(path, id);
  return id;
}

std::vector<NsysItem> PlanNsysForward(const NsysOptions& options, int64_t tokens, bool graph,
                                      NsysNames* names, NsysModules* modules) {
  return Planner(options, tokens, graph, names, modules).Plan();
}

}  // namespace layerscope::gen

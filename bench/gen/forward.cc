#include "bench/gen/forward.h"

namespace layerscope::gen {
namespace {

constexpr std::string_view kCallImpl = "torch/nn/modules/module.py(1779): _call_impl";
constexpr std::string_view kGetAttr = "torch/nn/modules/module.py(1951): __getattr__";
constexpr std::string_view kOpsCall = "torch/_ops.py(1244): __call__";
constexpr std::string_view kTracingState =
    "<built-in method _get_tracing_state of PyCapsule object at 0x7fe14c7a0b10>";

// Norms of layer 0 are instances 0 to 3; the final norm comes after all of them.
constexpr int64_t kNormsPerLayer = 4;

}  // namespace

// The frames that PyTorch puts around every module's forward.
struct Forward::ModuleFrames {
  ModuleFrames(CpuThread& thread, const char* module_class, int64_t instance,
               std::string_view forward)
      : module(thread.Module(module_class, instance)),
        call(thread.Frame(kCallImpl)),
        leaf(thread.Frame(kTracingState)),
        closed_leaf((leaf.Close(), true)),
        body(thread.Frame(forward)) {
    thread.Leaf(kGetAttr);
  }
  ~ModuleFrames() {
    body.Close();
    call.Close();
    module.Close();
  }
  CpuThread::Scope module, call, leaf;
  bool closed_leaf;
  CpuThread::Scope body;
};

void Forward::Run(const Catalog& catalog, bool decode) {
  ModuleFrames model(t_, "Qwen3ForCausalLM", 0,
                     "vllm/model_executor/models/qwen3.py(328): forward");
  auto compiled = t_.Frame("vllm/compilation/decorators.py(223): __call__");
  auto forward = t_.Frame("vllm/model_executor/models/qwen2.py(336): forward");
  Embed(catalog);
  for (int64_t layer = 0; layer < o_.layers; ++layer) {
    Layer(catalog, layer, decode);
    t_.Pad(catalog);
  }
  Norm(catalog, kNormsPerLayer * o_.layers, catalog.fused_add_rms_norm,
       catalog.fused_add_rms_norm_kernel);
}

void Forward::Replay(const Catalog& catalog, bool piecewise) {
  auto runnable = t_.Frame("vllm/compilation/cuda_graph.py(121): __call__");
  auto replay = t_.Frame("torch/cuda/graphs.py(88): replay");
  piecewise_ = piecewise;
  t_.StartRecordingGraph();
  Run(catalog, true);
  LaunchPiece();
  piecewise_ = false;
}

void Forward::LaunchPiece() {
  const std::vector<GraphNode> nodes = t_.StopRecordingGraph();
  if (nodes.empty()) return;
  if (!o_.graph_in_scope) {
    t_.LaunchGraph(nodes);
    return;
  }
  auto scope = t_.Module("CUDAGraphWrapper", 0);
  t_.LaunchGraph(nodes);
}

void Forward::Embed(const Catalog& c) {
  ModuleFrames module(t_, "VocabParallelEmbedding", 0,
                      "vllm/model_executor/layers/vocab_parallel_embedding.py(450): forward");
  auto builtin = t_.Frame("<built-in method embedding of type object at 0x7fe155633c40>");
  auto op = t_.Op(c.embedding);
  t_.View(c.view);
  {
    auto select = t_.Op(c.index_select);
    t_.View(c.empty);
    t_.MemoryEvent(o_.hidden * 2);
    t_.Launch(c.gather, main_stream_);
  }
  t_.View(c.view);
}

void Forward::Layer(const Catalog& c, int64_t layer, bool decode) {
  ModuleFrames module(t_, "Qwen3DecoderLayer", layer,
                      "vllm/model_executor/models/qwen3.py(222): forward");
  const bool first = layer == 0;
  Norm(c, kNormsPerLayer * layer, first ? c.rms_norm : c.fused_add_rms_norm,
       first ? c.rms_norm_kernel : c.fused_add_rms_norm_kernel);
  Attention(c, layer, decode);
  Norm(c, kNormsPerLayer * layer + 3, c.fused_add_rms_norm, c.fused_add_rms_norm_kernel);
  FeedForward(c, layer);
}

void Forward::Attention(const Catalog& c, int64_t layer, bool decode) {
  ModuleFrames module(t_, "Qwen3Attention", layer,
                      "vllm/model_executor/models/qwen3.py(150): forward");
  Linear(c, "QKVParallelLinear", layer, c.qkv);
  {
    auto frame = t_.Frame("torch/_tensor.py(1015): split");
    auto op = t_.Op(c.split);
    for (int i = 0; i < 3; ++i) t_.View(c.as_strided);
  }
  t_.View(c.view);
  Norm(c, kNormsPerLayer * layer + 1, c.head_norm, c.head_norm_kernel);
  t_.View(c.view);
  Norm(c, kNormsPerLayer * layer + 2, c.head_norm, c.head_norm_kernel);
  Rotary(c);
  PagedAttention(c, layer, decode);
  Linear(c, "RowParallelLinear", 2 * layer, c.output);
}

void Forward::Rotary(const Catalog& c) {
  // One instance serves all layers.
  ModuleFrames module(t_, "RotaryEmbedding", 0,
                      "vllm/model_executor/layers/rotary_embedding/base.py(170): forward_cuda");
  CustomOp("<built-in method rotary_embedding of PyCapsule object at 0x7fdd281f3c90>", c.rotary,
           c.rotary_kernel, main_stream_);
}

void Forward::PagedAttention(const Catalog& c, int64_t layer, bool decode) {
  if (piecewise_) {
    // The compiled piece calls the op itself: no module scope is around it.
    LaunchPiece();
    AttentionOp(c, decode);
    t_.StartRecordingGraph();
    return;
  }
  ModuleFrames module(t_, "Attention", layer, "vllm/attention/layer.py(290): forward");
  t_.View(c.empty);
  t_.MemoryEvent(o_.hidden * 2);
  for (int i = 0; i < 4; ++i) t_.View(c.view);
  AttentionOp(c, decode);
}

void Forward::AttentionOp(const Catalog& c, bool decode) {
  auto frame = t_.Frame("vllm/attention/layer.py(852): unified_attention_with_output");
  auto op = t_.Op(c.attention);
  auto backend = t_.Frame("vllm/v1/attention/backends/flash_attn.py(518): forward");
  CustomOp("<built-in method reshape_and_cache_flash of PyCapsule object at 0x7fdd281f3d50>",
           c.cache, c.cache_kernel, side_stream_);
  auto flash =
      t_.Frame("vllm/vllm_flash_attn/flash_attn_interface.py(240): flash_attn_varlen_func");
  auto flash_op = t_.Op(c.flash);
  t_.Launch(c.flash_kernel, main_stream_);
  if (decode) t_.Launch(c.combine_kernel, main_stream_);
}

void Forward::FeedForward(const Catalog& c, int64_t layer) {
  ModuleFrames module(t_, "Qwen2MLP", layer, "vllm/model_executor/models/qwen2.py(111): forward");
  Linear(c, "MergedColumnParallelLinear", layer, c.gate_up);
  {
    ModuleFrames activation(t_, "SiluAndMul", layer,
                            "vllm/model_executor/layers/activation.py(91): forward_cuda");
    t_.View(c.empty);
    t_.MemoryEvent(o_.intermediate * 2);
    CustomOp("<built-in method silu_and_mul of PyCapsule object at 0x7fdd281f3e10>", c.silu,
             c.silu_kernel, main_stream_);
  }
  Linear(c, "RowParallelLinear", 2 * layer + 1, c.down);
}

void Forward::Norm(const Catalog& c, int64_t instance, const OpSpec& op, const KernelSpec& kernel) {
  ModuleFrames module(t_, "RMSNorm", instance,
                      "vllm/model_executor/layers/layernorm.py(194): forward_cuda");
  if (op.name == c.rms_norm.name) t_.View(c.empty);
  CustomOp("<built-in method fused_add_rms_norm of PyCapsule object at 0x7fdd281f3f30>", op, kernel,
           main_stream_);
}

void Forward::Linear(const Catalog& c, const char* module_class, int64_t instance,
                     const LinearSpec& linear) {
  ModuleFrames module(t_, module_class, instance,
                      "vllm/model_executor/layers/linear.py(557): forward");
  auto apply = t_.Frame("vllm/model_executor/layers/linear.py(234): apply");
  Gemm(linear);
  const bool reduces = std::string_view(module_class) == "RowParallelLinear";
  if (reduces && o_.tp > 1) AllReduce(c);
}

void Forward::Gemm(const LinearSpec& linear) {
  auto function = t_.Frame("<built-in function linear>");
  auto op = t_.Op(linear.linear);
  {
    auto view = t_.Op(linear.transpose_view);
    auto transpose = t_.Op(linear.transpose);
    t_.View(linear.as_strided);
  }
  auto matmul = t_.Op(linear.matmul);
  auto mm = t_.Op(linear.mm);
  t_.Launch(linear.gemm, main_stream_);
}

void Forward::AllReduce(const Catalog& c) {
  auto frame = t_.Frame("vllm/distributed/parallel_state.py(508): all_reduce");
  auto op = t_.Op(c.all_reduce);
  t_.Launch(c.all_reduce_kernel, main_stream_);
}

void Forward::CustomOp(std::string_view builtin, const OpSpec& op, const KernelSpec& kernel,
                       int64_t stream) {
  auto call = t_.Frame(kOpsCall);
  auto method = t_.Frame(builtin);
  auto scope = t_.Op(op);
  t_.Launch(kernel, stream);
}

void Forward::ComputeLogits(const Catalog& c) {
  {
    auto op = t_.Op(c.index);
    t_.Launch(c.index_kernel, main_stream_);
  }
  auto frame = t_.Frame("vllm/model_executor/models/qwen3.py(338): compute_logits");
  ModuleFrames module(t_, "LogitsProcessor", 0,
                      "vllm/model_executor/layers/logits_processor.py(50): forward");
  Gemm(c.lm_head);
}

void Forward::Sample(const Catalog& c) {
  ModuleFrames module(t_, "Sampler", 0, "vllm/v1/sample/sampler.py(67): forward");
  {
    auto op = t_.Op(c.to_float);
    t_.View(c.empty);
    t_.MemoryEvent(o_.vocab * 4);
    t_.Launch(c.to_float_kernel, main_stream_);
  }
  auto op = t_.Op(c.argmax);
  t_.Launch(c.argmax_kernel, main_stream_);
}

}  // namespace layerscope::gen

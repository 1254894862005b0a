#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/kernel_names/rule_set.h"
#include "src/replay/resolve.h"
#include "src/trace/trace.h"

#include "tests/support/trace_builder.h"

namespace layerscope::replay {

/// Kernels of a layer, the op and the module that launch each.
struct Part {
  std::string_view kernel, op, module;
};
inline constexpr Part kLayer[] = {
    {"fused_add_rms_norm_kernel", "_C::fused_add_rms_norm", "RMSNorm"},
    {"nvjet_qkv_gemm", "aten::mm", "QKVParallelLinear"},
    {"rotary_embedding_kernel", "_C::rotary_embedding", "RotaryEmbedding"},
    {"flash_fwd_kernel", "vllm::unified_attention", "Attention"},
    {"nvjet_o_gemm", "aten::mm", "RowParallelLinear"},
    {"silu_and_mul_kernel", "_C::silu_and_mul", "SiluAndMul"},
};

/// Records captures on one thread: `Model_0` with layers of the parts above.
class CaptureWriter {
 public:
  explicit CaptureWriter(bool names_kernels) : names_kernels_(names_kernels) {}

  void Forward(int layers, bool piecewise = false) {
    const int64_t from_ns = now_ns_;
    Call("cudaStreamBeginCapture");
    for (int layer = 0; layer < layers; ++layer) {
      const int64_t layer_ns = now_ns_;
      for (const Part& part : kLayer) {
        const bool attention = part.module == "Attention";
        if (piecewise && attention) {
          Call("cudaStreamEndCapture");
          Call("cudaStreamBeginCapture");
          continue;
        }
        Launch(part, layer);
      }
      build_.Scope(Thread(), "Layer_" + std::to_string(layer), layer_ns, now_ns_ - layer_ns);
    }
    Call("cudaStreamEndCapture");
    build_.Scope(Thread(), "Model_0", from_ns, now_ns_ - from_ns);
  }
  void Copy() { Call("cudaMemcpyAsync"); }
  void Call(std::string_view name) { build_.Call(Thread(), name, now_ns_ += 100, ++correlation_); }
  void Launch(const Part& part, int layer) {
    const int64_t from_ns = now_ns_ += 100;
    if (names_kernels_ || !next_name_.empty()) {
      const std::string_view name = next_name_.empty() ? part.kernel : next_name_;
      build_.LaunchOf(Thread(), "hipLaunchKernel", name, now_ns_ += 100, ++correlation_);
      next_name_ = {};
    } else {
      Call("cudaLaunchKernel");
    }
    now_ns_ += 100;
    build_.Op(Thread(), part.op, from_ns, now_ns_ - from_ns);
    build_.Scope(Thread(), std::string(part.module) + "_" + std::to_string(layer), from_ns,
                 now_ns_ - from_ns);
  }
  /// The next launch names its kernel.
  void NameNext(std::string_view name) { next_name_ = name; }
  /// Launches of another thread while this one captures.
  void Elsewhere() { build_.Call(build_.Thread(1, 2), "cudaLaunchKernel", now_ns_ += 100, 9'999); }
  void Annotate(std::string_view name, int64_t from_ns) {
    build_.Annotation(Thread(), name, from_ns, now_ns_ - from_ns + 1);
  }
  int64_t now_ns() const { return now_ns_; }
  trace::ThreadId Thread() { return build_.Thread(1, 1); }
  trace::Trace Build() && { return std::move(build_).Build(); }

 private:
  const bool names_kernels_;
  std::string_view next_name_;
  tests::TraceBuilder build_;
  int64_t now_ns_ = 1'000;
  int64_t correlation_ = 0;
};

using Names = std::vector<std::string>;

/// Kernels of pieces of a forward: one piece, or one more than layers.
inline std::vector<Names> ForwardOf(int layers, bool piecewise = false) {
  std::vector<Names> pieces(1);
  for (int layer = 0; layer < layers; ++layer) {
    for (const Part& part : kLayer) {
      if (piecewise && part.module == "Attention") {
        pieces.emplace_back();
      } else {
        pieces.back().emplace_back(part.kernel);
      }
    }
  }
  return pieces;
}

/// The trace that is looked at, and what was given beside it: replays, then captures, then Resolve.
class CaptureCase {
 public:
  void Replay(const std::vector<Names>& pieces, std::string_view step = {}) {
    const int64_t from_ns = now_ns_;
    for (const Names& names : pieces) {
      build_.Call(build_.Thread(5, 5), "cudaGraphLaunch", now_ns_ += 1'000, ++correlation_);
      int64_t at_ns = now_ns_;
      for (const std::string& name : names) {
        build_.Kernel(name, at_ns += 3'000, 2'000, correlation_);
      }
      now_ns_ = at_ns + 3'000;
    }
    if (!step.empty()) build_.Annotation(build_.Thread(5, 5), step, from_ns, now_ns_ - from_ns);
    now_ns_ += 10'000;
  }
  void Around(std::string_view scope) {
    build_.Scope(build_.Thread(5, 5), scope, 0, now_ns_ + 1'000'000'000);
  }
  tests::TraceBuilder& build() { return build_; }

  void Give(CaptureWriter capture, std::optional<int64_t> batch = {},
            std::optional<int64_t> rank = {}) {
    Side& side = *sides_.emplace_back(std::make_unique<Side>());
    side.trace = std::move(capture).Build();
    side.attribution = attribution::Attribute(side.trace, kernel_names::RuleSet());
    side.view = {"capture" + std::to_string(sides_.size()), rank, batch, &side.trace,
                 &side.attribution};
    sources_.captures.push_back(
        {side.view.path, rank, batch, [view = &side.view] { return view; }});
  }

  void Resolve(std::optional<int64_t> rank = {}) {
    sources_.rank = rank;
    trace_ = std::move(build_).Build();
    out_ = attribution::Attribute(trace_, kernel_names::RuleSet());
    ResolveReplays(trace_, out_, sources_);
  }
  const attribution::GraphAlignment& graph(size_t i = 0) const { return out_.alignments.at(i); }
  const attribution::Attribution& out() const { return out_; }
  const trace::Trace& trace() const { return trace_; }
  /// "Model_0.Layer_1.RMSNorm_1", or "-".
  std::string Module(size_t row) const {
    const attribution::ModuleId id = out_.module[row];
    return id.valid() ? out_.modules.Path(id, trace_) : "-";
  }
  std::string Op(size_t row) const {
    return out_.op[row].valid() ? std::string(trace_.strings[out_.OpName(trace_, out_.op[row])])
                                : "-";
  }
  /// Kernels that are in another module than their place in `forward` says.
  int64_t CountWrong(int layers, bool piecewise = false) const {
    int64_t wrong = 0;
    size_t row = 0;
    while (row < out_.module.size()) {
      for (int layer = 0; layer < layers; ++layer) {
        for (const Part& part : kLayer) {
          if (piecewise && part.module == "Attention") continue;
          const std::string number = std::to_string(layer);
          const std::string truth =
              "Model_0.Layer_" + number + "." + std::string(part.module) + "_" + number;
          wrong += Module(row) != truth || Op(row) != part.op ? 1 : 0;
          ++row;
        }
      }
    }
    return wrong;
  }

 private:
  struct Side {
    trace::Trace trace;
    attribution::Attribution attribution;
    SideTrace view;
  };

  tests::TraceBuilder build_;
  int64_t now_ns_ = 0;
  int64_t correlation_ = 0;
  std::vector<std::unique_ptr<Side>> sides_;
  Sources sources_;
  trace::Trace trace_;
  attribution::Attribution out_;
};

inline CaptureWriter Capture(bool names_kernels, int layers, bool piecewise = false) {
  CaptureWriter capture(names_kernels);
  capture.Forward(layers, piecewise);
  return capture;
}

}  // namespace layerscope::replay

#include "src/replay/capture_resolver.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "src/kernel_names/rule_set.h"

#include "tests/support/trace_builder.h"

namespace layerscope::replay {
namespace {

/// Kernels of a layer, the op and the module that launch each.
struct Part {
  std::string_view kernel, op, module;
};
constexpr Part kLayer[] = {
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
    if (names_kernels_) {
      build_.LaunchOf(Thread(), "hipLaunchKernel", part.kernel, now_ns_ += 100, ++correlation_);
    } else {
      Call("cudaLaunchKernel");
    }
    now_ns_ += 100;
    build_.Op(Thread(), part.op, from_ns, now_ns_ - from_ns);
    build_.Scope(Thread(), std::string(part.module) + "_" + std::to_string(layer), from_ns,
                 now_ns_ - from_ns);
  }
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
  tests::TraceBuilder build_;
  int64_t now_ns_ = 1'000;
  int64_t correlation_ = 0;
};

using Names = std::vector<std::string>;

/// Kernels of pieces of a forward: one piece, or one more than layers.
std::vector<Names> ForwardOf(int layers, bool piecewise = false) {
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

/// The trace that is looked at, and what was given beside it.
class Case {
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

  void Give(CaptureWriter capture, std::optional<int64_t> batch = {}) {
    Side& side = *sides_.emplace_back(std::make_unique<Side>());
    side.trace = std::move(capture).Build();
    side.attribution = attribution::Attribute(side.trace, kernel_names::RuleSet());
    side.view = {
        "capture" + std::to_string(sides_.size()), {}, batch, &side.trace, &side.attribution};
    sources_.captures.push_back({side.view.path, {}, batch, [view = &side.view] { return view; }});
  }

  void Resolve() {
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

CaptureWriter Capture(bool names_kernels, int layers, bool piecewise = false) {
  CaptureWriter capture(names_kernels);
  capture.Forward(layers, piecewise);
  return capture;
}

TEST(ResolveByCaptures, PlacesEveryKernelOfAFullGraph) {
  for (const bool named : {true, false}) {
    Case of;
    of.Replay(ForwardOf(3));
    of.Replay(ForwardOf(3));
    of.Give(Capture(named, 3));
    of.Resolve();
    EXPECT_EQ(of.CountWrong(3), 0) << named;
    ASSERT_EQ(of.out().alignments.size(), 1U);
    EXPECT_EQ(of.graph().launches, 2);
    EXPECT_EQ(of.graph().matched, 36);
    EXPECT_EQ(of.graph().evidence, attribution::Evidence::kCaptureAlignment);
    EXPECT_FALSE(of.graph().withheld);
  }
}

TEST(ResolveByCaptures, CountsACallOfEveryModuleALaunch) {
  Case of;
  of.Replay(ForwardOf(2));
  of.Replay(ForwardOf(2));
  of.Replay(ForwardOf(2));
  of.Give(Capture(true, 2));
  of.Resolve();
  for (const attribution::Module& module : of.out().modules.modules) EXPECT_EQ(module.calls, 3);
  EXPECT_EQ(of.out().modules.modules.size(), 1U + 2U + 12U);
}

TEST(ResolveByCaptures, LaysPiecesOverLaunchesInTheirOrder) {
  for (const bool named : {true, false}) {
    Case of;
    of.Replay(ForwardOf(4, true), "step[DECODE bs=8]");
    of.Replay(ForwardOf(4, true), "step[DECODE bs=8]");
    of.Give(Capture(named, 4, true));
    of.Resolve();
    EXPECT_EQ(of.CountWrong(4, true), 0) << named;
    EXPECT_EQ(of.graph().pieces, 5);
    EXPECT_EQ(of.graph().launches, 10);
    EXPECT_EQ(of.graph().kernels_per_launch, 20);
  }
}

TEST(ResolveByCaptures, WithholdsACaptureOfAnotherModel) {
  for (const bool named : {true, false}) {
    Case of;
    of.Replay(ForwardOf(3));
    of.Give(Capture(named, 4));
    of.Resolve();
    EXPECT_EQ(of.Module(0), "-");
    EXPECT_TRUE(of.graph().withheld);
    EXPECT_FALSE(of.graph().reason.empty());
  }
}

TEST(ResolveByCaptures, WithholdsAnEqualCountOfOtherWork) {
  // As many kernels as the capture, one place off: a head kernel more, the last one less.
  std::vector<Names> shifted = ForwardOf(3);
  shifted[0].insert(shifted[0].begin(), "embedding_gather_kernel");
  shifted[0].pop_back();
  Case of;
  of.Replay(shifted);
  of.Give(Capture(false, 3));
  of.Resolve();
  EXPECT_EQ(of.Module(3), "-");
  EXPECT_TRUE(of.graph().withheld);

  Case unknown;
  unknown.Replay({Names(18, "kernel_that_says_nothing")});
  unknown.Give(Capture(false, 3));
  unknown.Resolve();
  EXPECT_TRUE(unknown.graph().withheld);
}

TEST(ResolveByCaptures, LeavesOneOtherKernelAlone) {
  std::vector<Names> pieces = ForwardOf(10);
  pieces[0][7] = "another_gemm";
  Case of;
  of.Replay(pieces);
  of.Give(Capture(true, 10));
  of.Resolve();
  EXPECT_EQ(of.CountWrong(10), 1);
  EXPECT_EQ(of.Module(7), "-");
  EXPECT_EQ(of.graph().matched, 59);
  EXPECT_EQ(of.graph().mismatched, 1);
}

TEST(ResolveByCaptures, SaysNothingOfLayersWhenOneIsMissing) {
  Case of;
  of.Replay(ForwardOf(9));  // the replay lost one whole layer of ten: nobody knows which
  of.Give(Capture(true, 10));
  of.Resolve();
  EXPECT_TRUE(of.graph().withheld);
  for (size_t row = 0; row < 54; ++row) EXPECT_EQ(of.Module(row), "-");
}

TEST(ResolveByCaptures, PlacesWhatIsLeftWhenKernelsAreMissing) {
  std::vector<Names> pieces = ForwardOf(10);
  pieces[0].erase(pieces[0].begin() + 33);  // the attention of layer 5
  pieces[0].erase(pieces[0].begin() + 8);   // the rotary embedding of layer 1
  Case of;
  of.Replay(pieces);
  of.Give(Capture(true, 10));
  of.Resolve();
  EXPECT_EQ(of.graph().matched, 58);
  EXPECT_EQ(of.graph().missing, 2);
  EXPECT_EQ(of.Module(8), "Model_0.Layer_1.Attention_1");
  EXPECT_EQ(of.Module(57), "Model_0.Layer_9.SiluAndMul_9");
}

TEST(ResolveByCaptures, TakesTheCaptureOfTheStepsBatch) {
  CaptureWriter two(true);
  int64_t from_ns = two.now_ns();
  two.Forward(3);
  two.Annotate("capture_32_FULL", from_ns);
  from_ns = two.now_ns() + 1;
  two.Launch(kLayer[0], 9);  // outside
  two.Forward(3);
  two.Annotate("capture_8_FULL", from_ns);
  Case of;
  of.Replay(ForwardOf(3), "step[DECODE bs=8]");
  of.Replay(ForwardOf(3), "step[DECODE bs=32]");
  of.Give(std::move(two));
  of.Resolve();
  EXPECT_EQ(of.graph(0).source_batch, 8);
  EXPECT_TRUE(of.graph(0).reason.empty());
  EXPECT_EQ(of.CountWrong(3), 0);
}

TEST(ResolveByCaptures, SaysThatACaptureWasMadeForAnotherBatch) {
  Case of;
  of.Replay(ForwardOf(3), "step[DECODE bs=32]");
  of.Give(Capture(true, 3), 64);
  of.Resolve();
  EXPECT_EQ(of.CountWrong(3), 0);
  EXPECT_EQ(of.graph().reason, "captured for batch 64");
  EXPECT_EQ(of.out().warnings.back().code, "capture_other_batch");
}

TEST(ResolveByCaptures, SaysToWhichSizeAStepIsPadded) {
  Case of;
  of.Replay(ForwardOf(3), "step[DECODE bs=30]");
  of.Give(Capture(true, 2), 16);
  of.Give(Capture(true, 4), 64);
  of.Give(Capture(true, 3), 32);
  of.Resolve();
  EXPECT_EQ(of.CountWrong(3), 0);
  EXPECT_EQ(of.graph().source, "capture3");
  EXPECT_EQ(of.graph().reason, "captured for batch 32, to which 30 is padded");
}

TEST(ResolveByCaptures, LeavesOtherThreadsOutOfACapture) {
  CaptureWriter capture(false);
  capture.Call("cudaStreamBeginCapture");
  capture.Elsewhere();
  capture.Launch(kLayer[0], 0);
  capture.Elsewhere();
  capture.Launch(kLayer[1], 0);
  capture.Call("cudaStreamEndCapture");
  Case of;
  of.Replay({{std::string(kLayer[0].kernel), std::string(kLayer[1].kernel)}});
  of.Give(std::move(capture));
  of.Resolve();
  EXPECT_EQ(of.Module(0), "RMSNorm_0");
  EXPECT_EQ(of.Module(1), "QKVParallelLinear_0");
}

TEST(ResolveByCaptures, CopiesShiftNothing) {
  for (const bool named : {true, false}) {
    CaptureWriter capture(named);
    capture.Call("cudaStreamBeginCapture");
    for (const Part& part : kLayer) {
      capture.Copy();
      capture.Launch(part, 0);
    }
    capture.Call("cudaStreamEndCapture");
    Case of;
    Names names = ForwardOf(1)[0];
    names.insert(names.begin() + 3, "memcpy128");
    of.Replay({names});
    of.Give(std::move(capture));
    of.Resolve();
    EXPECT_EQ(of.Module(2), "RotaryEmbedding_0");
    EXPECT_EQ(of.Module(4), "Attention_0");
    EXPECT_EQ(of.graph().matched, 6);
    EXPECT_EQ(of.graph().missing, 0);
  }
}

TEST(ResolveByCaptures, HangsTheRestBelowAModuleThatIsAroundTheLaunch) {
  Case of;
  of.Replay(ForwardOf(1));
  of.Around("Model_0");
  of.Give(Capture(true, 1));
  of.Resolve();
  EXPECT_EQ(of.Module(0), "Model_0.Layer_0.RMSNorm_0");
  EXPECT_EQ(of.out().modules.modules.front().calls, 1);

  Case other;
  other.Replay(ForwardOf(1));
  other.Around("GraphRunner_0");
  other.Give(Capture(true, 1));
  other.Resolve();
  EXPECT_EQ(other.Module(0), "GraphRunner_0.Model_0.Layer_0.RMSNorm_0");
}

TEST(ResolveByCaptures, WithholdsTwoCapturesThatNameModulesDifferently) {
  CaptureWriter first(true);
  first.Call("hipStreamBeginCapture");
  first.Launch({"k", "op", "A"}, 0);
  first.Call("hipStreamEndCapture");
  CaptureWriter second(true);
  second.Call("hipStreamBeginCapture");
  second.Launch({"k", "op", "B"}, 0);
  second.Call("hipStreamEndCapture");
  Case of;
  of.Replay({{"k"}});
  of.Give(std::move(first));
  of.Give(std::move(second));
  of.Resolve();
  EXPECT_EQ(of.Module(0), "-");
  EXPECT_TRUE(of.graph().withheld);
}

TEST(ResolveByCaptures, WithholdsABurst) {
  Case of;
  of.build().Call(of.build().Thread(5, 5), "hipGraphLaunch", 500, 77);
  const Names names = ForwardOf(3)[0];
  for (const std::string& name : names) of.build().Kernel(name, 9'000, 50'000, 77);
  of.Give(Capture(true, 3));
  of.Resolve();
  EXPECT_EQ(of.Module(0), "-");
  EXPECT_TRUE(of.graph().withheld);
  EXPECT_EQ(of.out().warnings.back().code, "graph_burst");
}

}  // namespace
}  // namespace layerscope::replay

#include "src/replay/eager_resolver.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/kernel_names/rule_set.h"
#include "src/replay/eager_forwards.h"

#include "tests/support/trace_builder.h"

namespace layerscope::replay {
namespace {

using attribution::Evidence;

struct Kernel {
  std::string name;
  std::string module;  ///< below its layer
};

/// What one layer of a model launches.
const std::vector<Kernel>& LayerKernels() {
  static const std::vector<Kernel> kKernels = {{"norm", "Norm_0"},
                                               {"gemm_qkv", "Qkv_0"},
                                               {"attention", "Attention_0"},
                                               {"gemm_o", "Out_0"},
                                               {"gemm_up", "Up_0"}};
  return kKernels;
}
constexpr int kLayers = 6;

struct Attributed {
  explicit Attributed(tests::TraceBuilder builder)
      : trace(std::move(builder).Build()),
        attribution(attribution::Attribute(trace, kernel_names::RuleSet())) {}
  trace::Trace trace;
  attribution::Attribution attribution;
};

/// Writes steps of a model of six layers, kernel by kernel or as one graph launch of them.
class ModelTrace {
 public:
  explicit ModelTrace(std::string suffix = "") : suffix_(std::move(suffix)) {}

  void Eager(const std::string& step, bool scopes = true) {
    const int64_t from_ns = now_ns_;
    Launch("embedding");
    for (int layer = 0; layer < kLayers; ++layer) {
      const int64_t layer_ns = now_ns_;
      for (const Kernel& kernel : LayerKernels()) {
        const int64_t at_ns = now_ns_;
        build_.Op(thread_, "aten::" + kernel.name, at_ns, 900);
        Launch(kernel.name);
        if (scopes) build_.Scope(thread_, kernel.module, at_ns, 900);
      }
      if (scopes) {
        build_.Scope(thread_, "Layer_" + std::to_string(layer), layer_ns, now_ns_ - layer_ns);
      }
    }
    Launch("argmax");
    End(step, from_ns);
  }
  /// The same, with a range of each layer that is called by its path.
  void EagerByPath(const std::string& step) {
    const int64_t from_ns = now_ns_;
    Launch("embedding");
    for (int layer = 0; layer < kLayers; ++layer) {
      const int64_t layer_ns = now_ns_;
      for (const Kernel& kernel : LayerKernels()) Launch(kernel.name);
      build_.PathScope(thread_, "model.layers." + std::to_string(layer), layer_ns,
                       now_ns_ - layer_ns);
    }
    End(step, from_ns);
  }
  /// A graph launch in a range of its own.
  void ReplayIn(const std::string& path, const std::string& step) {
    const int64_t from_ns = now_ns_;
    Replay(step);
    build_.PathScope(thread_, path, from_ns, 900'000);
  }
  void Replay(const std::string& step) {
    const int64_t from_ns = now_ns_;
    Launch("embedding");
    build_.Call(thread_, "cudaGraphLaunch", now_ns_, ++correlation_);
    for (int layer = 0; layer < kLayers; ++layer) {
      for (const Kernel& kernel : LayerKernels()) Run(kernel.name);
    }
    End(step, from_ns);
  }
  /// Two graphs of one step: one of another model (or this one's too), and `layers` of this one.
  void ReplayPieces(const std::string& step, int layers, bool twice = false) {
    const int64_t from_ns = now_ns_;
    for (const bool own : {twice, true}) {
      build_.Call(thread_, "cudaGraphLaunch", now_ns_, ++correlation_);
      for (int layer = 0; layer < layers; ++layer) {
        for (const Kernel& kernel : LayerKernels()) Run((own ? "" : "draft_") + kernel.name);
      }
    }
    End(step, from_ns);
  }
  /// One step of this model in two graphs of three layers, or (`more`) with a third before them.
  void ReplayHalves(const std::string& step, bool more) {
    const int64_t from_ns = now_ns_;
    for (int graph = more ? 0 : 1; graph < 3; ++graph) {
      build_.Call(thread_, "cudaGraphLaunch", now_ns_, ++correlation_);
      for (int layer = 0; layer < kLayers / 2; ++layer) {
        for (const Kernel& kernel : LayerKernels()) Run(kernel.name);
      }
    }
    End(step, from_ns);
  }
  Attributed Done() { return Attributed(std::move(build_)); }

 private:
  void Launch(const std::string& name) {
    build_.Call(thread_, "cudaLaunchKernel", now_ns_ + 10, ++correlation_);
    Run(name);
  }
  void Run(const std::string& name) {
    build_.Kernel(name + suffix_, now_ns_ + 100, 800, correlation_);
    now_ns_ += 1'000;
  }
  void End(const std::string& step, int64_t from_ns) {
    if (!step.empty()) build_.Annotation(thread_, step, from_ns, now_ns_ - from_ns);
    now_ns_ += 5'000;
  }

  std::string suffix_;
  tests::TraceBuilder build_;
  trace::ThreadId thread_ = build_.Thread(1, 1);
  int64_t now_ns_ = 1'000;
  int64_t correlation_ = 0;
};

std::vector<LaunchOutcome> Resolve(Attributed& replay, const Attributed* eager) {
  SideTrace side;
  Sources sources;
  if (eager != nullptr) {
    side = {"eager.json", {}, {}, &eager->trace, &eager->attribution};
    sources.eager.push_back({"eager.json", {}, {}, [&side] { return &side; }});
  }
  const GraphLaunches graphs = FindGraphLaunches(replay.trace, replay.attribution);
  attribution::ModuleGraft graft(replay.trace, replay.attribution);
  Resolution resolution{replay.trace, replay.attribution, graft, graphs, {}};
  resolution.outcomes.resize(graphs.launches.size());
  ResolveByEager(resolution, sources);
  graft.Finish();
  return resolution.outcomes;
}

std::string ModuleOf(const Attributed& run, size_t row) {
  const attribution::ModuleId module = run.attribution.module[row];
  return module.valid() ? run.attribution.modules.Path(module, run.trace) : "-";
}

// Row 0 of a replayed step is the embedding that was launched beside the graph; 5 kernels a layer.
TEST(EagerResolver, AnEagerForwardGivesReplayedKernelsTheirModulesAndOps) {
  ModelTrace eager_model, replay_model;
  eager_model.Eager("step[DECODE bs=4]");
  replay_model.Replay("step[DECODE bs=4]");
  replay_model.Replay("step[DECODE bs=4]");
  const Attributed eager = eager_model.Done();
  Attributed replay = replay_model.Done();
  const std::vector<LaunchOutcome> outcomes = Resolve(replay, &eager);
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_EQ(outcomes[1].evidence, Evidence::kEagerAlignment);
  EXPECT_EQ(outcomes[1].matched, 30);
  EXPECT_EQ(outcomes[1].mismatched, 0);
  EXPECT_EQ(outcomes[1].missing, 1);  // argmax
  EXPECT_EQ(outcomes[1].source_batch, 4);
  EXPECT_EQ(ModuleOf(replay, 0), "-");
  EXPECT_EQ(ModuleOf(replay, 1), "Layer_0.Norm_0");
  EXPECT_EQ(ModuleOf(replay, 31 + 1 + 4 * 5 + 2), "Layer_4.Attention_0");
  EXPECT_EQ(replay.trace.strings[replay.attribution.OpName(replay.trace, replay.attribution.op[2])],
            "aten::gemm_qkv");
  EXPECT_EQ(replay.attribution.module_evidence[1], Evidence::kEagerAlignment);
}

TEST(EagerResolver, APathIsOnePlaceWhateverIsOpenAtTheLaunch) {
  ModelTrace eager_model, replay_model;
  eager_model.EagerByPath("step[DECODE bs=4]");
  replay_model.EagerByPath("step[DECODE bs=4]");
  replay_model.ReplayIn("runner", "step[DECODE bs=4]");
  const Attributed eager = eager_model.Done();
  Attributed replay = replay_model.Done();
  const std::vector<LaunchOutcome> outcomes = Resolve(replay, &eager);
  EXPECT_EQ(outcomes[0].evidence, Evidence::kEagerAlignment);
  // Six layers and the runner: eager and replayed calls are of one module each.
  EXPECT_EQ(replay.attribution.modules.modules.size(), 7U);
  for (const attribution::Module& module : replay.attribution.modules.modules) {
    EXPECT_FALSE(module.parent.valid());
    EXPECT_EQ(module.calls, replay.trace.strings[module.name] == "runner" ? 1 : 2);
  }
}

TEST(EagerResolver, OtherKernelsAreWithheldWithTheFigures) {
  ModelTrace eager_model("_tile64"), replay_model;
  eager_model.Eager("step[DECODE bs=4]");
  replay_model.Replay("step[DECODE bs=4]");
  const Attributed eager = eager_model.Done();
  Attributed replay = replay_model.Done();
  const std::vector<LaunchOutcome> outcomes = Resolve(replay, &eager);
  EXPECT_TRUE(outcomes[0].withheld);
  EXPECT_EQ(outcomes[0].reason, "its likeliest forward runs 0 of the 30 replayed kernels");
  EXPECT_EQ(ModuleOf(replay, 1), "-");
}

TEST(EagerResolver, AnotherBatchWithTheSameKernelsIsUsedAndTheNearestIsTaken) {
  ModelTrace eager_model, replay_model;
  eager_model.Eager("step[DECODE bs=64]");
  eager_model.Eager("step[DECODE bs=16]");
  eager_model.Eager("step[EXTEND bs=4 toks=4]");
  replay_model.Replay("step[DECODE bs=8]");
  const Attributed eager = eager_model.Done();
  Attributed replay = replay_model.Done();
  const std::vector<LaunchOutcome> outcomes = Resolve(replay, &eager);
  EXPECT_EQ(outcomes[0].evidence, Evidence::kEagerAlignment);
  EXPECT_EQ(outcomes[0].source_batch, 16);
}

TEST(EagerResolver, WithoutStepsForwardsAreCallsOfTheFirstRootModule) {
  ModelTrace eager_model;
  eager_model.Eager("");
  eager_model.Eager("");
  const Attributed eager = eager_model.Done();
  const SideTrace side{"eager.json", {}, {}, &eager.trace, &eager.attribution};
  const std::vector<Recording> forwards = FindEagerForwards(side);
  // Layer_0 opens a forward: 30 kernels, argmax and the next one's embedding; at the end 31.
  ASSERT_EQ(forwards.size(), 2U);
  EXPECT_EQ(forwards[0].pieces.front().nodes.size(), 32U);
  EXPECT_EQ(forwards[1].pieces.front().nodes.size(), 31U);
}

TEST(EagerResolver, TheTracesOwnEagerStepsServeWhereNoFileIsGiven) {
  ModelTrace model;
  model.Eager("step[DECODE bs=16]");
  model.Replay("step[DECODE bs=4]");
  Attributed run = model.Done();
  const std::vector<LaunchOutcome> outcomes = Resolve(run, nullptr);
  EXPECT_EQ(outcomes[0].evidence, Evidence::kEagerAlignment);
  EXPECT_EQ(ModuleOf(run, 32 + 1 + 5), "Layer_1.Norm_0");
  EXPECT_EQ(run.attribution.module[32 + 1 + 5], run.attribution.module[1 + 5]);
}

TEST(EagerResolver, AFileWithoutEagerForwardIsWithheldAndOwnStepsServe) {
  ModelTrace unusable, model;
  unusable.Replay("step[DECODE bs=4]");
  model.Eager("step[DECODE bs=16]");
  model.Replay("step[DECODE bs=4]");
  const Attributed eager = unusable.Done();
  Attributed run = model.Done();
  const std::vector<LaunchOutcome> outcomes = Resolve(run, &eager);
  EXPECT_EQ(outcomes[0].evidence, Evidence::kEagerAlignment);
  EXPECT_TRUE(outcomes[0].own_steps);
  EXPECT_EQ(outcomes[0].source, "");
  ASSERT_EQ(outcomes[0].refusals.size(), 1U);
  EXPECT_EQ(outcomes[0].refusals[0].path, "eager.json");
  EXPECT_EQ(outcomes[0].refusals[0].reason, "it holds no eager forward");
  EXPECT_EQ(outcomes[0].refusals[0].source, Evidence::kEagerAlignment);
  EXPECT_FALSE(outcomes[0].withheld);

  ModelTrace alone;
  alone.Replay("step[DECODE bs=4]");
  Attributed without = alone.Done();
  const std::vector<LaunchOutcome> withheld = Resolve(without, &eager);
  EXPECT_TRUE(withheld[0].withheld);
  EXPECT_EQ(withheld[0].reason, "it holds no eager forward");
}

TEST(EagerResolver, PiecesOfAForwardThatDoesNotFitAreWithheldWithIt) {
  ModelTrace eager_model, replay_model;
  eager_model.Eager("step[DECODE bs=4]");
  // Another model whose second piece is the first layers of this one.
  replay_model.ReplayPieces("step[DECODE bs=4]", 2);
  const Attributed eager = eager_model.Done();
  Attributed replay = replay_model.Done();
  for (const LaunchOutcome& outcome : Resolve(replay, &eager)) EXPECT_TRUE(outcome.withheld);
  EXPECT_EQ(ModuleOf(replay, 1), "-");
  EXPECT_EQ(ModuleOf(replay, 12), "-");
}

TEST(EagerResolver, WhatTheWindowLeftOfAStepNeedsAWholeOneThatFits) {
  // The first step's second graph is all that is left of it, and looks like a smaller model.
  for (const bool other : {false, true}) {
    ModelTrace eager_model, replay_model;
    eager_model.Eager("step[DECODE bs=4]");
    replay_model.ReplayHalves("step[DECODE bs=4]", false);
    replay_model.ReplayHalves("step[DECODE bs=4]", other);
    replay_model.ReplayHalves("step[DECODE bs=4]", other);
    const Attributed eager = eager_model.Done();
    Attributed replay = replay_model.Done();
    for (const LaunchOutcome& outcome : Resolve(replay, &eager)) {
      EXPECT_EQ(outcome.withheld, other);
    }
  }
}

TEST(EagerResolver, TwoGraphsOfOneStepAreNotTheSameForward) {
  ModelTrace eager_model, replay_model;
  eager_model.Eager("step[DECODE bs=4]");
  replay_model.ReplayPieces("step[DECODE bs=4]", kLayers, true);
  const Attributed eager = eager_model.Done();
  Attributed replay = replay_model.Done();
  for (const LaunchOutcome& outcome : Resolve(replay, &eager)) EXPECT_TRUE(outcome.withheld);
}

TEST(EagerResolver, OwnStepsThatDoNotFitAreNotSpokenOf) {
  ModelTrace model;
  model.Replay("step[DECODE bs=4]");
  Attributed run = model.Done();
  const std::vector<LaunchOutcome> outcomes = Resolve(run, nullptr);
  EXPECT_FALSE(outcomes[0].withheld);
  EXPECT_TRUE(outcomes[0].reason.empty());
}

}  // namespace
}  // namespace layerscope::replay

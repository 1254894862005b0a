#include "src/replay/annotation_resolver.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/kernel_names/rule_set.h"
#include "src/replay/annotation_fit.h"
#include "src/replay/path_placer.h"

#include "tests/support/trace_builder.h"

namespace layerscope::replay {
namespace {

using attribution::Evidence;

/// Eight layers of a norm, a projection and an activation in one graph, replayed twice: 24 kernels
/// with node ids from 100 on, and one more without an id.
class AnnotationsTest : public testing::Test {
 protected:
  static constexpr int64_t kFirstNode = 100;
  static constexpr int kLayers = 8;

  void Build(bool inside_scope = false) {
    const trace::ThreadId thread = build_.Thread(1, 1);
    int64_t now_ns = 10'000;
    if (inside_scope) build_.Scope(thread, "Runner_0", 0, 1'000'000);
    for (int64_t correlation = 1; correlation <= 2; ++correlation) {
      build_.Call(thread, "cudaGraphLaunch", now_ns, correlation);
      int64_t node = kFirstNode;
      for (int i = 0; i < kLayers; ++i) {
        for (const char* name : {"rms_norm_kernel", "gemm_up", "act_and_mul_kernel"}) {
          build_.GraphNode(build_.Kernel(name, now_ns += 1'000, 900, correlation), node++);
        }
      }
      build_.Kernel("other", now_ns += 1'000, 900, correlation);
      now_ns += 10'000;
    }
    trace_ = std::move(build_).Build();
    attribution_ = attribution::Attribute(trace_, kernel_names::RuleSet());
  }

  static std::string PathOf(int layer, int kernel) {
    const char* const below[] = {"input_layernorm", "mlp.up_proj", "mlp.act_fn"};
    return "model.layers." + std::to_string(layer) + "." + below[kernel];
  }
  void Annotate(int64_t node, std::string path) {
    annotations_.nodes.push_back({node, std::move(path)});
  }
  void AnnotateAll() {
    for (int i = 0; i < kLayers; ++i) {
      for (int k = 0; k < 3; ++k) Annotate(kFirstNode + i * 3 + k, PathOf(i, k));
    }
  }

  std::vector<LaunchOutcome> Resolve() {
    Sources sources;
    sources.annotations = &annotations_;
    sources.annotations_path = "graph_annotations_rank0.json";
    const GraphLaunches graphs = FindGraphLaunches(trace_, attribution_);
    attribution::ModuleGraft graft(trace_, attribution_);
    Resolution resolution{trace_, attribution_, graft, graphs, {}};
    resolution.outcomes.resize(graphs.launches.size());
    ResolveByAnnotations(resolution, sources);
    graft.Finish();
    return resolution.outcomes;
  }
  std::string ModuleOf(uint32_t row) const {
    const attribution::ModuleId module = attribution_.module[row];
    return module.valid() ? attribution_.modules.Path(module, trace_) : "-";
  }
  size_t CountResolved() const {
    size_t n = 0;
    for (const Evidence evidence : attribution_.module_evidence)
      n += evidence == Evidence::kGraphNode;
    return n;
  }

  tests::TraceBuilder build_;
  trace::Trace trace_;
  attribution::Attribution attribution_;
  model::GraphAnnotations annotations_;
};

TEST_F(AnnotationsTest, EveryAnnotatedNodeGetsItsPathInEveryLaunch) {
  Build();
  AnnotateAll();
  const std::vector<LaunchOutcome> outcomes = Resolve();
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_EQ(outcomes[0].evidence, Evidence::kGraphNode);
  EXPECT_EQ(outcomes[1].matched, 24);
  EXPECT_EQ(outcomes[1].mismatched, 1);  // "other" has no id
  EXPECT_EQ(CountResolved(), 48U);
  EXPECT_EQ(ModuleOf(0), "model.layers.0.input_layernorm");
  EXPECT_EQ(ModuleOf(25 + 23), "model.layers.7.mlp.act_fn");
  EXPECT_EQ(ModuleOf(24), "-");
}

TEST_F(AnnotationsTest, ChainsHangBelowTheScopeAroundTheLaunchAndCallOnceALaunch) {
  Build(true);
  AnnotateAll();
  Resolve();
  const attribution::ModuleTree& tree = attribution_.modules;
  attribution::ModuleId module = attribution_.module[1];  // model.layers.0.mlp.up_proj
  std::vector<std::string> names;
  for (; module.valid(); module = tree.modules[module.index()].parent) {
    const attribution::Module& at = tree.modules[module.index()];
    names.emplace_back(trace_.strings[at.name]);
    if (names.back() != "Runner_0") {
      EXPECT_EQ(at.calls, 2) << names.back();
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{"up_proj", "mlp", "layers.0", "model", "Runner_0"}));
}

/// An eager forward whose scopes are called by their paths, before the graph is launched.
class PathScopesTest : public AnnotationsTest {
 protected:
  void Eager(std::string_view wrapper = {}) {
    const trace::ThreadId thread = build_.Thread(1, 1);
    if (!wrapper.empty()) build_.PathScope(thread, wrapper, 0, 9'000);
    build_.PathScope(thread, "model", 10, 8'000);
    build_.PathScope(thread, "model.layers.0", 20, 7'000);
  }
  void OpenAtTheLaunches(std::string_view path) {
    build_.PathScope(build_.Thread(1, 1), path, 9'500, 900'000);
  }
  int64_t CallsOf(std::string_view path) const {
    int64_t calls = 0;
    for (const attribution::Module& module : attribution_.modules.modules) {
      if (!module.path.valid() || trace_.strings[module.path] != path) continue;
      EXPECT_EQ(calls, 0) << path << " is two modules";
      calls = module.calls;
    }
    return calls;
  }
  std::string ParentOf(std::string_view path) const {
    for (const attribution::Module& module : attribution_.modules.modules) {
      if (!module.path.valid() || trace_.strings[module.path] != path) continue;
      return module.parent.valid() ? attribution_.modules.Path(module.parent, trace_) : "-";
    }
    return "none";
  }
};

TEST_F(PathScopesTest, APathIsOnePlaceWhateverIsOpenAtTheLaunch) {
  Eager();
  OpenAtTheLaunches("runner");
  Build();
  AnnotateAll();
  Resolve();
  EXPECT_EQ(ParentOf("model"), "-");
  EXPECT_EQ(CallsOf("model"), 3);  // eager, and two launches
  EXPECT_EQ(CallsOf("model.layers.0"), 3);
  EXPECT_EQ(CallsOf("model.layers.7.mlp"), 2);
  EXPECT_EQ(CallsOf("runner"), 1);
}

TEST_F(PathScopesTest, WithoutEagerCallsAPathBeginsAtTheRoot) {
  OpenAtTheLaunches("runner");
  Build();
  AnnotateAll();
  Resolve();
  EXPECT_EQ(ParentOf("model"), "-");
  EXPECT_EQ(CallsOf("model"), 2);
}

TEST_F(PathScopesTest, APathIsWhereTheTraceItselfCallsIt) {
  Eager("runner");
  OpenAtTheLaunches("other");
  Build();
  AnnotateAll();
  Resolve();
  EXPECT_EQ(ParentOf("model"), "runner");
  EXPECT_EQ(CallsOf("model.layers.0"), 3);
  EXPECT_EQ(CallsOf("other"), 1);
}

TEST_F(PathScopesTest, ALaunchInsideOfTheModelIsNoCallOfIt) {
  OpenAtTheLaunches("model");
  Build();
  AnnotateAll();
  Resolve();
  EXPECT_EQ(CallsOf("model"), 1);
  EXPECT_EQ(CallsOf("model.layers.0"), 2);
}

TEST_F(AnnotationsTest, NodesWithoutANameStayUnresolvedAndTheOthersAreUsed) {
  Build();
  AnnotateAll();
  annotations_.nodes.pop_back();
  annotations_.nodes.erase(annotations_.nodes.begin());
  annotations_.n_unnamed = 2;
  const std::vector<LaunchOutcome> outcomes = Resolve();
  EXPECT_EQ(outcomes[0].evidence, Evidence::kGraphNode);
  EXPECT_EQ(CountResolved(), 44U);
  EXPECT_EQ(ModuleOf(0), "-");
}

TEST_F(AnnotationsTest, IdsOfAnotherProcessAreWithheld) {
  Build();
  AnnotateAll();
  for (model::GraphAnnotations::Node& node : annotations_.nodes) node.id += 12;
  const std::vector<LaunchOutcome> outcomes = Resolve();
  EXPECT_TRUE(outcomes[0].withheld);
  EXPECT_EQ(outcomes[0].reason, "the annotations name 24 of the 48 kernels with a graph node id");
  EXPECT_EQ(CountResolved(), 0U);
}

TEST_F(AnnotationsTest, LayersThatGoBackAndForthAreWithheld) {
  Build();
  AnnotateAll();
  for (size_t i = 0; i < annotations_.nodes.size(); ++i) {
    annotations_.nodes[i].path = PathOf(static_cast<int>(i * 5 % 8), static_cast<int>(i % 3));
  }
  const std::vector<LaunchOutcome> outcomes = Resolve();
  EXPECT_TRUE(outcomes[0].withheld);
  EXPECT_NE(outcomes[0].reason.find("back and forth"), std::string::npos) << outcomes[0].reason;
  EXPECT_EQ(CountResolved(), 0U);
}

TEST_F(AnnotationsTest, AMapShiftedByOneNodeIsWithheldThoughEveryLayerIsAlike) {
  Build();
  AnnotateAll();
  for (size_t i = 0; i + 1 < annotations_.nodes.size(); ++i) {
    annotations_.nodes[i].path = annotations_.nodes[i + 1].path;
  }
  const std::vector<LaunchOutcome> outcomes = Resolve();
  EXPECT_TRUE(outcomes[0].withheld);
  EXPECT_NE(outcomes[0].reason.find("norms and projections"), std::string::npos)
      << outcomes[0].reason;
}

// Twelve modules without a telling name; in each layer another one runs kernel k.
TEST(FitAnnotations, ModulesThatRunOtherKernelsInEachLayerDoNotFit) {
  for (const bool rotated : {false, true}) {
    tests::TraceBuilder build;
    model::GraphAnnotations annotations;
    GraphLaunch launch;
    for (int i = 0; i < 8 * 12; ++i) {
      const trace::ActivityId row = build.Kernel("k" + std::to_string(i % 12), i * 10, 5, 1);
      build.GraphNode(row, i);
      launch.rows.push_back(static_cast<uint32_t>(row.index()));
      const int module = rotated ? (i + i / 12) % 12 : i % 12;
      annotations.nodes.push_back(
          {i, "m." + std::to_string(i / 12) + ".p" + std::to_string(module)});
    }
    const trace::Trace trace = std::move(build).Build();
    const GraphLaunch* const launches[] = {&launch};
    const AnnotationFit fit = FitAnnotations(trace, annotations, launches);
    EXPECT_EQ(fit.fits, !rotated) << fit.reason;
    if (rotated) {
      EXPECT_EQ(fit.reason, "the annotated modules run other kernels in each layer (96 of 96)");
    }
  }
}

TEST(SplitLayer, TheFirstNumberIsTheLayer) {
  EXPECT_EQ(SplitLayer("model.layers.7.mlp.experts.3").pattern, "model.layers.*.mlp.experts.3");
  EXPECT_EQ(SplitLayer("model.layers.7.mlp.experts.3").layer, 7);
  EXPECT_EQ(SplitLayer("lm_head").layer, -1);
  EXPECT_EQ(SplitLayer("0.conv").pattern, "*.conv");
}

TEST(PathAbove, ANumberBelongsToThePartBeforeIt) {
  EXPECT_EQ(PathAbove("model.layers.7.mlp"), "model.layers.7");
  EXPECT_EQ(PathAbove("model.layers.7"), "model");
  EXPECT_EQ(PathAbove("model"), "");
  EXPECT_EQ(PathAbove("0"), "");
}

}  // namespace
}  // namespace layerscope::replay

#include "src/analysis/module_nodes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/analysis/module_shape.h"
#include "src/analysis/rollup.h"
#include "src/analysis/selection.h"
#include "src/attribution/module_graft.h"

#include "tests/support/test_run.h"
#include "tests/support/trace_builder.h"

namespace layerscope::analysis {
namespace {

using tests::TraceBuilder;

/// Model_0 with `n_layers` layers of an attention and an MLP; layer i launches kernels of 10 + i
/// and 20 ns that overlap by 5; one kernel is Model_0's own, one lies outside.
trace::Trace Layers(int n_layers) {
  TraceBuilder build;
  const auto main = build.Thread(12, 1);
  build.Scope(main, "Model_0", 0, 1000);
  int64_t correlation = 1;
  for (int i = 0; i < n_layers; ++i) {
    const int64_t at = 100 * (i + 1);
    const std::string number = std::to_string(i);
    build.Scope(main, "Layer_" + number, at, 90);
    build.Scope(main, "Attention_" + number, at + 10, 20);
    build.Call(main, "cudaLaunchKernel", at + 15, correlation);
    build.Kernel("gemm", 1000 + at, 10 + i, correlation++);
    build.Scope(main, "Mlp_" + number, at + 40, 20);
    build.Call(main, "cudaLaunchKernel", at + 45, correlation);
    build.Kernel("gemm", 1005 + at + i, 20, correlation++);
  }
  build.Call(main, "cudaLaunchKernel", 950, correlation);
  build.Kernel("gemm", 5000, 7, correlation++);
  build.Call(main, "cudaLaunchKernel", 1500, correlation);
  build.Kernel("gemm", 6000, 3, correlation);
  return std::move(build).Build();
}

ModuleNodes NodesOf(const TestRun& run) {
  return BuildModuleNodes(RankView(run.rank(), run.rules()));
}

const ModuleNode& Named(const std::vector<ModuleNode>& nodes, const std::string& instance) {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const ModuleNode& node) {
    return node.instance == instance;
  });
  EXPECT_NE(found, nodes.end()) << instance;
  return *found;
}

TEST(ModuleNodes, SumInclusiveExclusiveAndBusy) {
  const TestRun run(Layers(2));
  const ModuleNodes tree = NodesOf(run);
  ASSERT_EQ(tree.nodes.size(), 7U);
  const ModuleNode& model = tree.nodes[0];
  EXPECT_EQ(model.gpu_incl_ns, 10 + 20 + 11 + 20 + 7);
  EXPECT_EQ(model.gpu_excl_ns, 7);
  EXPECT_EQ(model.gpu_busy_ns, 25 + 26 + 7);  // each pair overlaps by 5
  EXPECT_EQ(model.kernels_incl, 5);
  const ModuleNode& layer = Named(tree.nodes, "Layer_1");
  EXPECT_EQ(layer.gpu_incl_ns, 31);
  EXPECT_EQ(layer.gpu_excl_ns, 0);
  EXPECT_EQ(layer.gpu_busy_ns, 26);
  EXPECT_EQ(layer.path, "Model_0.Layer_1");
  EXPECT_EQ(layer.calls, 1);
  EXPECT_EQ(layer.cpu_ns, 90);
}

/// Two processes of a database: each captures its model once and replays the graph twice; each has
/// a module that launches nothing.
trace::Trace CapturedAndReplayed() {
  TraceBuilder build;
  build.Nsys();
  for (int64_t pid = 1; pid <= 2; ++pid) {
    build.GpuProcess(pid);
    const auto main = build.Thread(pid, pid);
    build.PathScope(main, "model", 0, 100);
    build.PathScope(main, "model.mlp", 10, 20);
    build.NodeRow(main, 12, 5);
    build.PathScope(main, "idle", 150, 10);
    for (int64_t i = 1; i <= 2; ++i) {
      build.Call(main, "cudaGraphLaunch_v10000", 100 + 100 * i, i);
      build.GraphNode(build.Kernel("gemm", 150 + 100 * i, 10, i), 5);
    }
  }
  return std::move(build).Build();
}

TEST(ModuleNodes, ASelectionOfProcessesCountsTheCallsThatTheWholeCounts) {
  const TestRun run(CapturedAndReplayed());
  const ModuleNodes whole = NodesOf(run);
  ASSERT_EQ(whole.nodes.size(), 6U);
  for (const int64_t rank : {0, 1}) {
    Selection selection;
    selection.rank = rank;
    selection.without_communication = rank == 1;
    const auto views = Select(run.input(), selection);
    ASSERT_TRUE(views.ok());
    const ModuleNodes part = BuildModuleNodes(views->front());
    ASSERT_EQ(part.nodes.size(), 3U);
    for (size_t i = 0; i < 3; ++i) {
      const ModuleNode& of_whole = whole.nodes[static_cast<size_t>(rank) * 3 + i];
      EXPECT_EQ(part.nodes[i].instance, of_whole.instance);
      EXPECT_EQ(part.nodes[i].calls, of_whole.calls);
      EXPECT_EQ(part.nodes[i].captured_calls, of_whole.captured_calls);
      EXPECT_EQ(part.nodes[i].cpu_ns, of_whole.cpu_ns);
    }
  }
  const ModuleNode& mlp = Named(whole.nodes, "mlp");
  EXPECT_EQ(mlp.calls, 2) << "two replays";
  EXPECT_EQ(mlp.captured_calls, 1);
  EXPECT_EQ(Named(whole.nodes, "idle").calls, 1) << "it recorded nothing";
}

/// Two steps that call a layer with an MLP and an attention; the second one's attention has lost
/// its launch. Each MLP's kernel runs while its step lasts.
trace::Trace ALostLaunch() {
  TraceBuilder build;
  const auto main = build.Thread(12, 1);
  for (int64_t i = 0; i < 2; ++i) {
    const int64_t at = 200 * i;
    build.Annotation(main, "step[DECODE bs=1]", at, 100);
    build.Scope(main, "Layer_0", at + 10, 80);
    build.Scope(main, "Mlp_0", at + 20, 30);
    build.Call(main, "cudaLaunchKernel", at + 30, 2 * i + 1);
    build.Kernel("gemm", at + 50, 10, 2 * i + 1);
    build.Scope(main, "Attention_0", at + 60, 20);
    if (i == 0) build.Call(main, "cudaLaunchKernel", at + 65, 2 * i + 2);
    build.Kernel("attention", at + 70, 10, 2 * i + 2);
  }
  return std::move(build).Build();
}

TEST(ModuleNodes, ASelectionOfStepsOrTimeHoldsCallsThatLaunchedNothing) {
  const TestRun run(ALostLaunch());
  Selection by_step, by_time, by_both;
  by_step.steps = by_both.steps = {1, 1};
  by_time.from_ns = by_both.from_ns = 200;
  by_time.to_ns = 300;
  for (const Selection& selection : {by_step, by_time}) {
    const auto views = Select(run.input(), selection);
    ASSERT_TRUE(views.ok());
    const ModuleNodes tree = BuildModuleNodes(views->front());
    ASSERT_EQ(tree.nodes.size(), 3U);
    EXPECT_EQ(Named(tree.nodes, "Attention_0").calls, 1);
    EXPECT_EQ(Named(tree.nodes, "Attention_0").cpu_ns, 20);
    EXPECT_EQ(Named(tree.nodes, "Attention_0").gpu_incl_ns, 0);
    EXPECT_EQ(Named(tree.nodes, "Layer_0").cpu_self_ns, 80 - 30 - 20);
  }
  // The step has launched no more than what is selected of it.
  const auto whole = Select(run.input(), by_both);
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(BuildModuleNodes(whole->front()).nodes.size(), 3U);
}

TEST(ModuleNodes, AStepAndANarrowerConditionHoldTheCallsAroundWhatIsSelected) {
  const TestRun run(ALostLaunch());
  Selection selection;
  selection.steps = {1, 1};
  selection.module = "Mlp_0";
  const auto views = Select(run.input(), selection);
  ASSERT_TRUE(views.ok());
  const ModuleNodes tree = BuildModuleNodes(views->front());
  ASSERT_EQ(tree.nodes.size(), 2U);
  EXPECT_EQ(tree.nodes[0].instance, "Layer_0");
  EXPECT_EQ(tree.nodes[0].calls, 1);
  EXPECT_EQ(tree.nodes[1].instance, "Mlp_0");
}

TEST(ModuleNodes, WhatNoModuleExplainsIsCountedByReason) {
  const TestRun run(Layers(2));
  const ModuleNodes tree = NodesOf(run);
  EXPECT_EQ(tree.unattributed.gpu_ns, 3);
  EXPECT_EQ(tree.unattributed.kernels, 1);
  EXPECT_EQ(tree.unattributed.by_reason[static_cast<size_t>(attribution::Reason::kOutsideScopes)],
            3);
  EXPECT_EQ(tree.total_ns, 71);
}

TEST(ModuleNodes, ASelectionKeepsTheModulesItTouches) {
  const TestRun run(Layers(2));
  base::Result<std::vector<RankView>> views = Select(run.input(), {.module = "Attention_1"});
  ASSERT_TRUE(views.ok());
  const ModuleNodes tree = BuildModuleNodes(views->front());
  ASSERT_EQ(tree.nodes.size(), 3U);
  EXPECT_EQ(tree.nodes[2].instance, "Attention_1");
  EXPECT_EQ(tree.nodes[0].calls, 1);
  EXPECT_EQ(tree.nodes[0].cpu_self_ns, 1000 - 90);  // of the calls that hold a selected activity
  EXPECT_EQ(tree.total_ns, 11);
}

TEST(CollapseRuns, FoldsLikeLayersWithSumsAndExtremes) {
  const TestRun run(Layers(3));
  const std::vector<ModuleNode> rows = CollapseRuns(NodesOf(run).nodes);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[1].instance, "Layer_0..2");
  EXPECT_EQ(rows[1].repeat, 3);
  EXPECT_EQ(rows[1].gpu_incl_ns, 30 + 31 + 32);
  EXPECT_EQ(rows[1].min_incl_ns, 30);
  EXPECT_EQ(rows[1].max_incl_ns, 32);
  EXPECT_EQ(rows[2].instance, "Attention_0..2");
  EXPECT_EQ(rows[2].repeat, 3);
  EXPECT_EQ(rows[2].parent, 1);
  EXPECT_EQ(rows[3].gpu_excl_ns, 60);
}

std::vector<ModuleNode> Siblings(const std::vector<std::string>& names) {
  std::vector<ModuleNode> nodes(1);
  nodes[0].instance = nodes[0].class_name = "Root";
  for (const std::string& name : names) {
    ModuleNode node;
    node.parent = 0;
    node.depth = 2;
    node.instance = name;
    node.class_name = attribution::SplitInstance(name).class_name;
    nodes.push_back(node);
  }
  return nodes;
}

TEST(CollapseRuns, KeepsFewLikeLeavesApart) {
  EXPECT_EQ(CollapseRuns(Siblings({"Linear_0", "Linear_1", "Linear_2", "Linear_3"})).size(), 5U);
  const std::vector<ModuleNode> rows =
      CollapseRuns(Siblings({"E_0", "E_1", "E_2", "E_3", "E_4", "Norm_0"}));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1].instance, "E_0..4");
}

TEST(CollapseRuns, KeepsRootsOfTwoProcessesApart) {
  std::vector<ModuleNode> nodes = Siblings({"A_0"});
  std::vector<ModuleNode> second = Siblings({"A_0"});
  second[0].place.pid = int64_t{2};
  second[1].parent = 2;
  nodes.insert(nodes.end(), second.begin(), second.end());
  EXPECT_EQ(CollapseRuns(nodes).size(), 4U);
}

TEST(RollUp, ByClassCountsNothingTwice) {
  const TestRun run(Layers(2));
  base::Result<std::vector<RollupRow>> rows = RollUp(NodesOf(run).nodes, "class");
  ASSERT_TRUE(rows.ok());
  ASSERT_EQ(rows->size(), 4U);
  EXPECT_EQ((*rows)[0].key, "Model");
  int64_t excl_ns = 0;
  for (const RollupRow& row : *rows) excl_ns += row.gpu_excl_ns;
  EXPECT_EQ(excl_ns, 68);
}

TEST(RollUp, ClassInsideItsOwnClassIsInclusiveOnce) {
  std::vector<ModuleNode> nodes = Siblings({"Root_1"});
  nodes[0].class_name = "Root";
  nodes[0].gpu_incl_ns = 10;
  nodes[1].gpu_incl_ns = nodes[1].gpu_excl_ns = 10;
  base::Result<std::vector<RollupRow>> rows = RollUp(nodes, "class");
  ASSERT_TRUE(rows.ok());
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ((*rows)[0].gpu_incl_ns, 10);
  EXPECT_EQ((*rows)[0].n_modules, 2);
}

TEST(RollUp, ByCapturesKeepsTheRestAsOther) {
  const TestRun run(Layers(2));
  base::Result<std::vector<RollupRow>> rows =
      RollUp(NodesOf(run).nodes, R"(Layer_(\d+)\.(Attention|Mlp))");
  ASSERT_TRUE(rows.ok());
  ASSERT_EQ(rows->size(), 5U);
  EXPECT_EQ((*rows)[0].key, "[other]");
  EXPECT_EQ((*rows)[0].gpu_excl_ns, 7);
  EXPECT_EQ((*rows)[1].key, "0.Attention");
  EXPECT_EQ((*rows)[1].captures, (std::vector<std::string>{"0", "Attention"}));
  EXPECT_EQ((*rows)[4].gpu_incl_ns, 20);
}

TEST(RollUp, WhatLiesBelowAMatchBelongsToIt) {
  // Model_0 (own 1) { Attention_0 (own 2, 3 calls) { Linear_0 (own 10, 3 calls), Linear_1 (own 20)
  // } }
  const auto node = [](int64_t parent, int depth, const char* path, int64_t incl_ns,
                       int64_t excl_ns) {
    ModuleNode made;
    made.parent = parent;
    made.depth = depth;
    made.path = path;
    made.calls = 3;
    made.gpu_incl_ns = incl_ns;
    made.gpu_excl_ns = excl_ns;
    return made;
  };
  const std::vector<ModuleNode> nodes = {node(-1, 1, "Model_0", 33, 1),
                                         node(0, 2, "Model_0.Attention_0", 32, 2),
                                         node(1, 3, "Model_0.Attention_0.Linear_0", 10, 10),
                                         node(1, 3, "Model_0.Attention_0.Linear_1", 20, 20)};
  base::Result<std::vector<RollupRow>> rows = RollUp(nodes, "Attention");
  ASSERT_TRUE(rows.ok());
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_EQ((*rows)[0].key, "[other]");
  EXPECT_EQ((*rows)[0].gpu_incl_ns, 1);  // 1 + 32 = 33: nothing counts twice
  EXPECT_EQ((*rows)[0].calls, 0);
  EXPECT_EQ((*rows)[1].gpu_incl_ns, 32);
  EXPECT_EQ((*rows)[1].calls, 3);
  EXPECT_EQ((*rows)[1].n_modules, 1);

  // An anchored pattern leaves what is below to the module that matched, too.
  rows = RollUp(nodes, R"(Attention_\d+$)");
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ((*rows)[0].gpu_incl_ns, 1);
  EXPECT_EQ((*rows)[0].gpu_excl_ns, 31);
  EXPECT_EQ((*rows)[1].gpu_incl_ns, 32);
}

TEST(RollUp, BadPatternIsAUsageError) {
  base::Result<std::vector<RollupRow>> rows = RollUp({}, "(");
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().code, base::ErrorCode::kUsage);
}

TEST(FoldNumbers, ReplacesTheNumberOfEachName) {
  EXPECT_EQ(FoldNumbers("Model_0.Layer_17.Fp8Linear_3"), "Model_*.Layer_*.Fp8Linear_*");
  EXPECT_EQ(FoldNumbers("model.layers.7.mlp.w2"), "model.layers.*.mlp.w2");
}

/// The same model as hooks name it by path.
trace::Trace LayersByPath(int n_layers) {
  TraceBuilder build;
  const auto main = build.Thread(12, 1);
  build.PathScope(main, "model", 0, 1000);
  for (int i = 0; i < n_layers; ++i) {
    const int64_t at = 100 * (i + 1);
    const std::string path = "model.layers." + std::to_string(i);
    build.PathScope(main, path, at, 90);
    build.PathScope(main, path + ".mlp", at + 40, 20);
    build.Call(main, "cudaLaunchKernel", at + 45, i + 1);
    build.Kernel("gemm", 1005 + at + i, 20, i + 1);
  }
  return std::move(build).Build();
}

TEST(ModuleNodes, PathsStandAsRecordedAndRangesJoinThem) {
  const TestRun run(LayersByPath(3));
  const ModuleNodes tree = NodesOf(run);
  ASSERT_EQ(tree.nodes.size(), 7U);
  EXPECT_EQ(tree.nodes[2].path, "model.layers.0.mlp");
  EXPECT_EQ(tree.nodes[2].instance, "mlp");
  EXPECT_EQ(tree.nodes[2].class_name, "mlp");
  EXPECT_EQ(tree.nodes[1].class_name, "layers");
  const std::vector<ModuleNode> rows = CollapseRuns(tree.nodes);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1].instance, "layers.0..2");
  EXPECT_EQ(rows[1].path, "model.layers.0..2");
  EXPECT_EQ(rows[2].path, "model.layers.0..2.mlp");
  EXPECT_EQ(rows[2].repeat, 3);
  for (const char* name : {"model.layers.0..2.mlp", "mlp", "layers.0..2", "layers"}) {
    Selection selection;
    selection.module = name;
    const auto views = Select(run.input(), selection);
    ASSERT_TRUE(views.ok()) << name;
    EXPECT_EQ(views->front().total_ns(), 60) << name;
  }
}

TEST(ModuleNodes, ReplayedCallsCountAndTakeNoCpuTime) {
  trace::Trace trace = Layers(1);
  kernel_names::RuleSet rules;
  attribution::Attribution attr = attribution::Attribute(trace, rules);
  attribution::ModuleGraft graft(trace, attr);
  const attribution::ModuleId model(0);
  const attribution::ModuleId added = graft.FindOrAdd(model, {}, {graft.Intern("Graph_0"), {}, {}});
  // The last kernel of Model_0 itself.
  graft.Place(2, graft.AddCall(added, attr.scope[2]), graft.AddOp(graft.Intern("aten::mm"), {}),
              attribution::Evidence::kCaptureAlignment);
  graft.Finish();
  const RankInput rank{&trace, &attr, nullptr, std::nullopt, std::nullopt, "test.json"};
  RankView view(rank, rules);
  const ModuleNode all = Named(BuildModuleNodes(view).nodes, "Graph_0");
  view.SetRows({2}, false);
  const ModuleNodes selected = BuildModuleNodes(view);
  for (const ModuleNode& node : {all, Named(selected.nodes, "Graph_0")}) {
    EXPECT_EQ(node.calls, 1);
    EXPECT_EQ(node.cpu_ns, 0);
    EXPECT_EQ(node.gpu_excl_ns, 7);
    EXPECT_EQ(node.path, "Model_0.Graph_0");
  }
  EXPECT_EQ(Named(selected.nodes, "Model_0").cpu_ns, 1000);
}

}  // namespace
}  // namespace layerscope::analysis

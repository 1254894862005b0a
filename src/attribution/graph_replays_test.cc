#include "src/attribution/graph_replays.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/trace_builder.h"

namespace layerscope::attribution {
namespace {

using tests::TraceBuilder;
using trace::ActivityKind;

Attribution Attributed(trace::Trace& trace) {
  return Attribute(trace, kernel_names::RuleSet());
}

int64_t CountOf(const Attribution& attribution, const std::string& code) {
  for (const table::HealthEntry& entry : attribution.warnings) {
    if (entry.code == code) return entry.count;
  }
  return 0;
}

std::string ModuleOf(const Attribution& attribution, const trace::Trace& trace, size_t row) {
  const ModuleId id = attribution.module[row];
  return id.valid() ? attribution.modules.Path(id, trace) : "-";
}

int64_t CallsOf(const Attribution& attribution, const trace::Trace& trace,
                const std::string& path) {
  const std::vector<Module>& modules = attribution.modules.modules;
  for (size_t i = 0; i < modules.size(); ++i) {
    if (attribution.modules.Path(ModuleId(i), trace) == path) return modules[i].calls;
  }
  return -1;
}

/// Thread 1 captures `m.a` (a kernel, node 11), `m.b` (a copy, node 12) and, outside of both, a set
/// (node 13); 21 to 23 are their clones. Thread 2 replays them inside `runner`, which is none of
/// their modules.
class Replays {
 public:
  Replays() {
    build.Nsys();
    build.GpuProcess(1);
    capture = build.Thread(1, 1);
    main = build.Thread(1, 2);
    build.PathScope(capture, "m", 0, 100);
    build.PathScope(capture, "m.a", 10, 20);
    build.PathScope(capture, "m.b", 40, 20);
    build.PathScope(main, "runner", 1000, 9000);
    build.Op(capture, "aten::mm", 12, 5);
    build.Op(main, "runner_op", 1000, 9000);
    build.NodeRow(capture, 13, 11);
    build.NodeRow(capture, 45, 12);
    build.NodeRow(capture, 200, 13);
    for (int64_t node = 11; node <= 13; ++node) build.NodeRow(main, 300 + node, node + 10, node);
  }

  /// Rows in order: kernel, copy, set.
  void Launch(int64_t start_ns, int64_t correlation) {
    build.Call(main, "cudaGraphLaunch_v10000", start_ns, correlation);
    build.GraphNode(build.Kernel("k", start_ns + 100, 10, correlation), 21);
    build.GraphNode(build.Activity(ActivityKind::kMemcpy, "copy", start_ns + 110, 5, correlation),
                    22);
    build.GraphNode(build.Activity(ActivityKind::kMemset, "set", start_ns + 120, 3, correlation),
                    23);
  }

  TraceBuilder build;
  trace::ThreadId capture, main;
};

TEST(GraphReplays, TakeTheModuleOpenOnTheCapturingThread) {
  Replays run;
  run.Launch(2000, 1);
  trace::Trace trace = std::move(run.build).Build();
  const Attribution out = Attributed(trace);
  EXPECT_EQ(ModuleOf(out, trace, 0), "m.a");
  EXPECT_EQ(ModuleOf(out, trace, 1), "m.b");
  EXPECT_EQ(ModuleOf(out, trace, 2), "-");  // captured outside of every scope
  EXPECT_EQ(out.module_evidence[0], Evidence::kGraphNode);
  EXPECT_EQ(out.module_evidence[1], Evidence::kGraphNode);
  EXPECT_EQ(out.module_evidence[2], Evidence::kUnresolved);
  EXPECT_EQ(out.module_reason[2], Reason::kOutsideScopes);
  EXPECT_EQ(out.op[0], trace::OpId(0));
  EXPECT_FALSE(out.op[1].valid());
  for (size_t row = 0; row < 3; ++row) {
    EXPECT_EQ(out.thread[row], run.main);
    EXPECT_EQ(out.under_graph[row], 1);
  }
  EXPECT_EQ(CountOf(out, "graph_launch"), 0);  // nothing is hidden
}

TEST(GraphReplays, EachReplayCallsTheCapturedModulesAgain) {
  Replays run;
  run.Launch(2000, 1);
  run.Launch(3000, 2);
  run.build.Call(run.main, "cudaGraphLaunch_v10000", 4000, 3);
  run.build.GraphNode(run.build.Kernel("k", 4100, 10, 3), 21);  // the rest of it was not recorded
  trace::Trace trace = std::move(run.build).Build();
  const Attribution out = Attributed(trace);
  EXPECT_EQ(CallsOf(out, trace, "m"), 3);  // three replays; the capture ran nothing
  EXPECT_EQ(CallsOf(out, trace, "m.a"), 3);
  EXPECT_EQ(CallsOf(out, trace, "m.b"), 2);
  EXPECT_EQ(CallsOf(out, trace, "runner"), 1);
  // The calls of one replay hang together and are no other replay's.
  const ModuleTree& tree = out.modules;
  EXPECT_EQ(tree.parent_of_scope[out.scope[0].index()], tree.parent_of_scope[out.scope[1].index()]);
  EXPECT_NE(out.scope[0], out.scope[3]);
  EXPECT_GE(out.scope[0].index(), trace.scopes.size());
  EXPECT_EQ(CountOf(out, "graph_nodes_differ"), 1);
}

TEST(GraphReplays, StepAndLaunchAreThoseOfTheReplay) {
  Replays run;
  run.build.Annotation(run.capture, "capture_2_FULL", 0, 400);
  run.build.Annotation(run.main, "execute_context_0(0)_generation_2(2)", 1900, 500);
  run.Launch(2000, 1);
  const Attribution out = Attributed(run.build.trace());
  ASSERT_EQ(out.steps.size(), 1U);
  EXPECT_EQ(out.step[0], StepId(0));
  EXPECT_EQ(out.launch[0], trace::CallId(0));
}

TEST(GraphReplays, WithoutAUsableNodeNothingIsTakenFromTheLaunch) {
  Replays run;
  run.build.Call(run.main, "cudaGraphLaunch_v10000", 2000, 1);
  run.build.GraphNode(run.build.Kernel("not in the table", 2100, 10, 1), 77);
  run.build.NodeRow(run.main, 300, 78, 1078);
  run.build.GraphNode(run.build.Kernel("original not in the table", 2110, 10, 1), 78);
  run.build.Kernel("no node", 2120, 10, 1);
  run.build.Call(run.main, "cudaLaunchKernel_v7000", 2200, 2);
  run.build.Kernel("eager", 2300, 10, 2);
  trace::Trace trace = std::move(run.build).Build();
  const Attribution out = Attributed(trace);
  for (size_t row = 0; row < 3; ++row) {
    EXPECT_EQ(ModuleOf(out, trace, row), "-");
    EXPECT_EQ(out.module_reason[row], Reason::kGraphLaunch);
  }
  EXPECT_EQ(ModuleOf(out, trace, 3), "runner");
  EXPECT_EQ(out.module_evidence[3], Evidence::kLaunchCorrelation);
  EXPECT_EQ(CountOf(out, "graph_node_unknown"), 2);
  EXPECT_EQ(CountOf(out, "graph_launch"), 3);
}

TEST(GraphReplays, AReplayWithoutALaunchKeepsItsModule) {
  Replays run;
  run.build.GraphNode(run.build.Kernel("k", 2100, 10, 9), 21);
  trace::Trace trace = std::move(run.build).Build();
  const Attribution out = Attributed(trace);
  EXPECT_EQ(ModuleOf(out, trace, 0), "m.a");
  EXPECT_EQ(CallsOf(out, trace, "m.a"), 1);
  EXPECT_FALSE(out.step[0].valid());
}

// A graph ran it, for it is a node of one: its module is not known because its capture is not.
TEST(GraphReplays, AnUnknownNodeWithoutALaunchIsOfAGraphLaunchAllTheSame) {
  Replays run;
  run.build.GraphNode(run.build.Kernel("unknown", 2110, 10, 9), 77);
  run.build.Kernel("of no graph", 2130, 10, 8);
  trace::Trace trace = std::move(run.build).Build();
  const Attribution out = Attributed(trace);
  EXPECT_EQ(out.module_reason[0], Reason::kGraphLaunch);
  EXPECT_EQ(out.module_reason[1], Reason::kNoLaunch);
  EXPECT_EQ(out.under_graph[0], 0);         // no launch, so none of a graph
  EXPECT_EQ(CountOf(out, "no_launch"), 2);  // of no module and no step, both
}

TEST(GraphReplays, TheOpAroundAGraphLaunchIsNoneOfItsActivities) {
  Replays run;
  run.build.Call(run.main, "cudaGraphLaunch_v10000", 2000, 1);
  run.build.GraphNode(run.build.Kernel("not in the table", 2100, 10, 1), 77);
  run.build.Kernel("no node", 2120, 10, 1);
  run.build.Activity(ActivityKind::kGraph, "[graph] 4", 2130, 500, 1);
  run.build.Call(run.main, "cudaLaunchKernel_v7000", 2200, 2);
  run.build.Kernel("eager", 2700, 10, 2);
  trace::Trace trace = std::move(run.build).Build();
  const Attribution out = Attributed(trace);
  for (size_t row = 0; row < 3; ++row) EXPECT_FALSE(out.op[row].valid()) << row;
  EXPECT_EQ(out.op[3], trace::OpId(1));
}

/// Launches of the given nodes, one each; how many of them differ from most of their graph.
int64_t Differing(const std::vector<std::vector<int64_t>>& launches) {
  TraceBuilder build;
  build.Nsys();
  build.GpuProcess(1);
  const auto main = build.Thread(1, 1);
  int64_t correlation = 0;
  for (const std::vector<int64_t>& nodes : launches) {
    ++correlation;
    build.Call(main, "cudaGraphLaunch", 100 * correlation, correlation);
    for (const int64_t node : nodes) {
      build.GraphNode(build.Kernel("k", 100 * correlation + 10, 1, correlation), node);
    }
  }
  trace::Trace trace = std::move(build).Build();
  return CountOf(Attributed(trace), "graph_nodes_differ");
}

TEST(GraphReplays, LaunchesAreOfOneGraphThroughTheNodesOfAnyOfThem) {
  EXPECT_EQ(Differing({{1, 2}, {1, 2}, {3}, {3}}), 0);  // two graphs
  EXPECT_EQ(Differing({{1, 2}, {2, 3}, {3}}), 2);       // 3 is known by the second launch
  EXPECT_EQ(Differing({{1}, {2}, {1, 2}}), 2);          // the third joins what seemed two graphs
  EXPECT_EQ(Differing({{1}, {2}, {2, 1}, {1, 2}}), 2);
}

TEST(GraphReplays, NodeIdsAreOfOneProcess) {
  TraceBuilder build;
  build.Nsys();
  for (int64_t pid = 1; pid <= 2; ++pid) {
    const auto thread = build.Thread(pid, 1);
    build.PathScope(thread, pid == 1 ? "first" : "second", 0, 100);
    build.NodeRow(thread, 10, 5);
    build.Call(thread, "cudaGraphLaunch_v10000", 200, 7);
    build.GpuProcess(pid);
    build.GraphNode(build.Kernel("k", 300, 10, 7), 5);
  }
  build.GpuProcess(3);
  build.GraphNode(build.Kernel("of another process", 300, 10, 7), 5);
  trace::Trace trace = std::move(build).Build();
  const Attribution out = Attributed(trace);
  EXPECT_EQ(ModuleOf(out, trace, 0), "first");
  EXPECT_EQ(ModuleOf(out, trace, 1), "second");
  EXPECT_EQ(ModuleOf(out, trace, 2), "-");
  EXPECT_EQ(CountOf(out, "graph_nodes_differ"), 0);
}

TEST(GraphReplays, AWholeGraphIsAnActivityOfNoModule) {
  Replays run;
  run.build.Call(run.main, "cudaGraphLaunch_v10000", 2000, 1);
  run.build.Activity(ActivityKind::kGraph, "[graph] 4", 2100, 500, 1);
  trace::Trace trace = std::move(run.build).Build();
  const Attribution out = Attributed(trace);
  EXPECT_EQ(ModuleOf(out, trace, 0), "-");
  EXPECT_EQ(out.module_reason[0], Reason::kGraphLaunch);
  EXPECT_EQ(out.under_graph[0], 1);
  EXPECT_EQ(CountOf(out, "graph_whole"), 1);
  for (const table::HealthEntry& entry : out.warnings) {
    if (entry.code != "graph_launch") continue;
    EXPECT_NE(entry.message.find("--cuda-graph-trace=node"), std::string::npos);
  }
}

TEST(GraphReplays, OfAKinetoTraceWithoutNodesKeepTheModuleAroundTheLaunch) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Scope(main, "Model_0", 0, 100);
  build.Call(main, "cudaGraphLaunch", 50, 1);
  build.GraphNode(build.Kernel("k", 200, 10, 1), 5);
  const Attribution out = Attributed(build.trace());
  EXPECT_EQ(out.module_evidence[0], Evidence::kLaunchCorrelation);
}

TEST(GraphReplays, OfATraceWrittenFromADatabaseAreOfTheCapturedModule) {
  TraceBuilder build;
  build.GpuProcess(1);
  const auto main = build.Thread(1, 1);
  build.PathScope(main, "captured", 0, 40);
  build.NodeRow(main, 10, 5);
  build.PathScope(main, "runner", 45, 50);
  build.Call(main, "cudaGraphLaunch", 50, 1);
  build.GraphNode(build.Kernel("k", 200, 10, 1), 5);
  trace::Trace trace = std::move(build).Build();
  const Attribution out = Attributed(trace);
  EXPECT_EQ(ModuleOf(out, trace, 0), "captured");
  EXPECT_EQ(out.module_evidence[0], Evidence::kGraphNode);
}

TEST(GraphReplays, OfAnAbsurdNestKeepTheInnerScopes) {
  TraceBuilder build;
  build.Nsys();
  build.GpuProcess(1);
  const auto main = build.Thread(1, 1);
  for (int64_t i = 0; i < 1000; ++i)
    build.Scope(main, "Deep_" + std::to_string(i), i, 5000 - 2 * i);
  build.NodeRow(main, 2000, 5);
  build.Call(main, "cudaGraphLaunch", 9000, 1);
  build.GraphNode(build.Kernel("k", 9100, 10, 1), 5);
  trace::Trace trace = std::move(build).Build();
  const Attribution out = Attributed(trace);
  EXPECT_EQ(out.modules.modules[out.module[0].index()].depth, 1000);
  EXPECT_EQ(out.modules.module_of_scope.size(), 1000U + kMaxModuleLevels);
}

}  // namespace
}  // namespace layerscope::attribution

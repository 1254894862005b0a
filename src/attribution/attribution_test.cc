#include "src/attribution/attribution.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
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

const table::HealthEntry* Find(const Attribution& attribution, const std::string& code) {
  for (const table::HealthEntry& entry : attribution.warnings) {
    if (entry.code == code) return &entry;
  }
  return nullptr;
}

std::string ModuleOf(const Attribution& attribution, const trace::Trace& trace, size_t row) {
  const ModuleId id = attribution.module[row];
  return id.valid() ? attribution.modules.Path(id, trace) : "-";
}

/// One step with an eager kernel in a module, a graph launch outside of every module, a kernel
/// launched outside of modules and one without a launch.
TraceBuilder EagerAndGraph() {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Annotation(main, "step[DECODE bs=2]", 0, 1000);
  build.Scope(main, "Layer_0", 100, 100);
  build.Scope(main, "Mlp_0", 120, 50);
  build.Op(main, "aten::mm", 125, 30, 11);
  build.Call(main, "cudaLaunchKernel", 130, 1, 11);
  build.Call(main, "cudaGraphLaunch", 300, 2);
  build.Call(main, "cudaLaunchKernel", 400, 3);
  build.Kernel("gemm", 500, 10, 1, 11);
  build.Kernel("replayed_a", 600, 20, 2);
  build.Kernel("replayed_b", 620, 30, 2);
  build.Activity(ActivityKind::kMemcpy, "Memcpy DtoD", 700, 5, 3);
  build.Kernel("of before", 10, 7, 99);
  return build;
}

TEST(Attribution, GivesEveryActivityItsColumns) {
  TraceBuilder build = EagerAndGraph();
  const Attribution out = Attributed(build.trace());
  EXPECT_FALSE(out.cpu_only);
  EXPECT_EQ(out.launch[0], trace::CallId(0));
  EXPECT_EQ(out.op[0], trace::OpId(0));
  EXPECT_EQ(out.scope[0], trace::ScopeId(1));
  EXPECT_EQ(ModuleOf(out, build.trace(), 0), "Layer_0.Mlp_0");
  EXPECT_EQ(out.step[0], StepId(0));
  EXPECT_EQ(out.thread[0], build.trace().calls.thread[0]);
  EXPECT_EQ(out.host_process[0], build.trace().threads[0].process);
  EXPECT_EQ(out.module_evidence[0], Evidence::kLaunchCorrelation);
  EXPECT_EQ(out.under_graph, (std::vector<uint8_t>{0, 1, 1, 0, 0}));
}

TEST(Attribution, SaysWhyAnActivityHasNoModule) {
  TraceBuilder build = EagerAndGraph();
  const Attribution out = Attributed(build.trace());
  EXPECT_EQ(out.module_reason,
            (std::vector<Reason>{Reason::kNone, Reason::kGraphLaunch, Reason::kGraphLaunch,
                                 Reason::kOutsideScopes, Reason::kNoLaunch}));
  for (size_t row = 1; row < 5; ++row) {
    EXPECT_EQ(out.module_evidence[row], Evidence::kUnresolved);
    EXPECT_FALSE(out.module[row].valid());
  }
  EXPECT_FALSE(out.step[4].valid());
  EXPECT_EQ(out.host_process[4], out.host_process[0]) << "the only host process";
}

TEST(Attribution, CountsTheLaunchesOfAStepOnAllThreadsOfItsProcess) {
  TraceBuilder build = EagerAndGraph();
  build.Call(build.Thread(1, 2), "cudaLaunchKernel", 500, 0);
  build.Call(build.Thread(1, 2), "cudaMemcpyAsync", 510, 4);
  build.Call(build.Thread(2, 1), "cudaLaunchKernel", 500, 5);
  const Attribution out = Attributed(build.trace());
  ASSERT_EQ(out.steps.size(), 1U);
  EXPECT_EQ(out.steps[0].n_launches, 4);
}

TEST(Attribution, AGraphLaunchInsideAModuleBelongsToIt) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Scope(main, "Model_0", 0, 100);
  build.Call(main, "hipGraphLaunch", 10, 1);
  build.Kernel("replayed", 50, 10, 1);
  const Attribution out = Attributed(build.trace());
  EXPECT_EQ(ModuleOf(out, build.trace(), 0), "Model_0");
  EXPECT_EQ(out.module_evidence[0], Evidence::kLaunchCorrelation);
  EXPECT_EQ(out.module_reason[0], Reason::kNone);
  EXPECT_EQ(out.under_graph[0], 1);
}

TEST(Attribution, WarnsOfGraphsAndLostLaunches) {
  TraceBuilder build = EagerAndGraph();
  const Attribution out = Attributed(build.trace());
  const table::HealthEntry* const graph = Find(out, "graph_launch");
  ASSERT_NE(graph, nullptr);
  EXPECT_EQ(graph->count, 2);
  EXPECT_EQ(graph->severity, table::Severity::kWarning);
  // 50 ns of 72 ns.
  EXPECT_NE(graph->message.find("69.4 % of GPU time (2 activities) is 1 graph launch;"),
            std::string::npos)
      << graph->message;
  ASSERT_NE(Find(out, "no_launch"), nullptr);
  EXPECT_EQ(Find(out, "no_launch")->count, 1);
  EXPECT_EQ(Find(out, "no_module_scopes"), nullptr);
  EXPECT_EQ(Find(out, "sum_overflow"), nullptr);
}

TEST(Attribution, WarnsOfWholeGraphsThatACopyOnlyShows) {
  TraceBuilder build = EagerAndGraph();
  EXPECT_EQ(Find(Attributed(build.trace()), "copy_whole_graphs"), nullptr);
  build.trace().counts.by_cat["X|cuda_graph"] = 12;
  const Attribution out = Attributed(build.trace());
  const table::HealthEntry* const graphs = Find(out, "copy_whole_graphs");
  ASSERT_NE(graphs, nullptr);
  EXPECT_EQ(graphs->count, 12);
  EXPECT_EQ(graphs->severity, table::Severity::kWarning);
}

TEST(Attribution, SumsThatDoNotFitAreAnError) {
  TraceBuilder build;
  constexpr int64_t kHalf = int64_t{1} << 62;
  build.Kernel("a", 0, kHalf, 0);
  build.Kernel("b", 0, kHalf, 0);
  const Attribution out = Attributed(build.trace());
  ASSERT_NE(Find(out, "sum_overflow"), nullptr);
  EXPECT_EQ(Find(out, "sum_overflow")->severity, table::Severity::kError);
}

TEST(Attribution, WithoutGpuWorkRowsAreTheSelfTimesOfOps) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Annotation(main, "ProfilerStep#7", 0, 60);
  build.Scope(main, "Linear_0", 10, 50);
  build.Op(main, "aten::linear", 5, 50);
  build.Op(main, "aten::addmm", 20, 10);
  const Attribution out = Attributed(build.trace());
  ASSERT_TRUE(out.cpu_only);
  const trace::Activities& rows = out.rows(build.trace());
  EXPECT_EQ(rows.start_ns, (std::vector<int64_t>{5, 10, 20, 30}));
  EXPECT_EQ(rows.dur_ns, (std::vector<int64_t>{5, 10, 10, 25}));
  EXPECT_EQ(out.op, (std::vector<trace::OpId>{trace::OpId(0), trace::OpId(0), trace::OpId(1),
                                              trace::OpId(0)}));
  EXPECT_EQ(out.module_reason[0], Reason::kOutsideScopes);
  EXPECT_EQ(ModuleOf(out, build.trace(), 1), "Linear_0");
  EXPECT_EQ(out.module_evidence[1], Evidence::kLaunchCorrelation);
  EXPECT_EQ(out.modules.modules[0].cpu_ns, 50);
  EXPECT_EQ(out.modules.modules[0].cpu_self_ns, 45);
  EXPECT_EQ(out.step[3], StepId(0));
  EXPECT_FALSE(out.launch[0].valid());
  EXPECT_NE(Find(out, "cpu_only"), nullptr);
}

TEST(Attribution, AnEmptyTraceHasNoRowsAndNoWarnings) {
  const Attribution out = Attributed(TraceBuilder().trace());
  EXPECT_FALSE(out.cpu_only);
  EXPECT_TRUE(out.launch.empty());
  EXPECT_TRUE(out.warnings.empty());
}

TEST(Attribution, ExclusiveTimesAndTheUnattributedAddUpToTheTotal) {
  TraceBuilder build = EagerAndGraph();
  const Attribution out = Attributed(build.trace());
  const std::vector<int64_t>& dur_ns = build.trace().activities.dur_ns;
  int64_t attributed = 0;
  int64_t unattributed = 0;
  for (size_t row = 0; row < dur_ns.size(); ++row) {
    (out.module[row].valid() ? attributed : unattributed) += dur_ns[row];
    EXPECT_EQ(out.module[row].valid(), out.module_reason[row] == Reason::kNone);
    EXPECT_EQ(out.module[row].valid(), out.module_evidence[row] != Evidence::kUnresolved);
  }
  EXPECT_EQ(attributed + unattributed, std::accumulate(dur_ns.begin(), dur_ns.end(), int64_t{0}));
}

TEST(Names, OfEvidenceAndReasonsAreTheContract) {
  EXPECT_EQ(ToString(Evidence::kLaunchCorrelation), "launch_correlation");
  EXPECT_EQ(ToString(Evidence::kGraphNode), "graph_node");
  EXPECT_EQ(ToString(Evidence::kUnresolved), "unresolved");
  EXPECT_EQ(ToString(Reason::kNoLaunch), "no_launch");
  EXPECT_EQ(ToString(Reason::kOutsideScopes), "outside_scopes");
  EXPECT_EQ(ToString(Phase::kTargetVerify), "target_verify");
}

}  // namespace
}  // namespace layerscope::attribution

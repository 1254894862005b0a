#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "src/analysis/info.h"
#include "src/analysis/module_nodes.h"
#include "src/analysis/modules.h"
#include "src/analysis/steps.h"

#include "tests/support/test_run.h"
#include "tests/support/trace_builder.h"

namespace layerscope::analysis {
namespace {

using tests::TraceBuilder;

/// Empty when there is none.
table::Table TableOf(const table::Object& data, std::string_view name) {
  for (const auto& [key, value] : data) {
    if (key == name) return *std::get<std::shared_ptr<table::Table>>(value.variant());
  }
  return {};
}

int64_t Value(const table::Table& table, const char* column, size_t row) {
  return std::get<int64_t>(table.Find(column)->cell(table.RowAt(row)));
}
std::string_view Text(const table::Table& table, const char* column, size_t row) {
  return std::get<std::string_view>(table.Find(column)->cell(table.RowAt(row)));
}

/// Two processes of one run with equal correlations and node ids. Each captures two layers of a
/// GEMM and an all-reduce, replays them in two decode steps of past 64, and runs an eager prefill
/// step of one GEMM of 100 ns in layer 0. Of rank r a replayed GEMM lasts 10 + r ns in layer 0 and
/// 20 + r in layer 1, an all-reduce 5.
trace::Trace TwoRanks() {
  TraceBuilder build;
  build.Nsys();
  for (int64_t r = 0; r < 2; ++r) {
    const auto capture = build.Thread(100 + r, 1);
    const auto main = build.Thread(100 + r, 2);
    build.GpuProcess(100 + r);
    build.GpuStream(r, 7);
    for (int64_t layer = 0; layer < 2; ++layer) {
      const std::string path = "model.layers." + std::to_string(layer);
      build.PathScope(capture, path, 1000 * layer, 900);
      build.PathScope(capture, path + ".mlp", 1000 * layer + 10, 100);
      build.NodeRow(capture, 1000 * layer + 20, 10 + 2 * layer);
      build.NodeRow(capture, 1000 * layer + 500, 11 + 2 * layer);
    }
    for (int64_t node = 10; node < 14; ++node) build.NodeRow(capture, 3000, node + 90, node);
    build.Annotation(main, "bench_step::0::bs::8::past::0::phase::prefill", 10'000, 500);
    build.PathScope(main, "model.layers.0", 10'000, 400);
    build.Call(main, "cudaLaunchKernel_v7000", 10'010, 50);
    build.Kernel("gemm_prefill", 10'100, 100, 50);
    for (int64_t step = 1; step <= 2; ++step) {
      const int64_t from = 10'000 + 10'000 * step;
      build.Annotation(main, "bench_step::" + std::to_string(step) + "::bs::8::past::64", from,
                       500);
      build.Call(main, "cudaGraphLaunch_v10000", from + 10, 60 + step);
      for (int64_t layer = 0; layer < 2; ++layer) {
        const int64_t at = from + 100 + 100 * layer;
        build.GraphNode(build.Kernel("gemm", at, 10 + 10 * layer + r, 60 + step), 100 + 2 * layer);
        build.GraphNode(build.Kernel("ncclAllReduce", at + 50, 5, 60 + step), 101 + 2 * layer);
      }
    }
  }
  return std::move(build).Build();
}

TEST(NsysModules, ReplaysStandInTheirCapturedModules) {
  const TestRun run(TwoRanks());
  ModulesOptions options;
  options.presentation.for_people = false;
  options.rollup = R"(layers\.(\d+)\.(mlp))";
  const base::Result<Output> output = ComputeModules(run.input(), options);
  ASSERT_TRUE(output.ok());
  const table::Table rows = TableOf(output->ranks[0].data, "rows");
  // Layer 0's mlp: 10 + 10 + 11 + 11, layer 1's: 20 + 20 + 21 + 21; the rest is no mlp.
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(Text(rows, "key", 1), "0.mlp");
  EXPECT_EQ(Value(rows, "gpu_incl_ns", 1), 42);
  EXPECT_EQ(Value(rows, "kernels_incl", 1), 4);
  EXPECT_EQ(Value(rows, "calls", 1), 4);  // of each rank two replays; the capture ran nothing
  EXPECT_EQ(Value(rows, "gpu_incl_ns", 2), 82);
}

TEST(NsysModules, CommunicationIsLeftOutOnRequest) {
  const TestRun run(TwoRanks());
  ModulesOptions options;
  options.presentation.for_people = false;
  options.selection.without_communication = true;
  options.rollup = "path";
  const base::Result<Output> output = ComputeModules(run.input(), options);
  ASSERT_TRUE(output.ok());
  const table::Table rows = TableOf(output->ranks[0].data, "rows");
  // GEMMs: 2 * (10 + 20) + 2 * (11 + 21) + two of 100 in the prefill.
  EXPECT_EQ(Text(rows, "key", 0), "model.layers.*");
  EXPECT_EQ(Value(rows, "gpu_incl_ns", 0), 324);
  EXPECT_EQ(Value(rows, "gpu_excl_ns", 0), 200);
  EXPECT_EQ(Value(rows, "kernels_incl", 0), 10);
}

TEST(NsysModules, OneStepHoldsItsOwnCalls) {
  const TestRun run(TwoRanks());
  ModulesOptions options;
  options.presentation.for_people = false;
  options.selection.steps = std::pair<int64_t, int64_t>(2, 2);
  options.selection.rank = 1;
  options.match = "mlp$";
  const base::Result<Output> output = ComputeModules(run.input(), options);
  ASSERT_TRUE(output.ok());
  const table::Table nodes = TableOf(output->ranks[0].data, "nodes");
  int64_t found = 0;
  for (size_t row = 0; row < nodes.size(); ++row) {
    if (Text(nodes, "path", row) != "model.layers.1.mlp") continue;
    ++found;
    EXPECT_EQ(Value(nodes, "gpu_incl_ns", row), 21);
    EXPECT_EQ(Value(nodes, "calls", row), 1);
    EXPECT_EQ(Value(nodes, "cpu_ns", row), 0);  // a replayed call costs the host nothing
  }
  EXPECT_EQ(found, 1);
}

TEST(NsysSteps, SayHowTheirKernelsWereLaunched) {
  const TestRun run(TwoRanks());
  StepsOptions options;
  options.presentation.for_people = false;
  const base::Result<Output> output = ComputeSteps(run.input(), options);
  ASSERT_TRUE(output.ok());
  const table::Table steps = TableOf(output->ranks[0].data, "steps");
  ASSERT_EQ(steps.size(), 6U);  // three a rank
  EXPECT_EQ(Text(steps, "launch_mode", 0), "eager");
  EXPECT_EQ(Text(steps, "phase", 0), "prefill");
  EXPECT_EQ(Value(steps, "eager_kernels", 0), 1);
  EXPECT_EQ(Value(steps, "gap_ns", 0), 400);
  EXPECT_EQ(Text(steps, "launch_mode", 2), "graph");
  EXPECT_EQ(Value(steps, "graph_kernels", 2), 4);
  EXPECT_TRUE(
      std::holds_alternative<table::Null>(steps.Find("phase")->cell(2)));  // the marker says none
  const table::Table sweep = TableOf(output->ranks[0].data, "sweep");
  ASSERT_EQ(sweep.size(), 4U);  // past 0 and 64, a row for each rank
  EXPECT_EQ(Value(sweep, "past", 2), 64);
  EXPECT_EQ(Value(sweep, "rank", 2), 0);
  EXPECT_EQ(Value(sweep, "n_steps", 2), 2);
  EXPECT_EQ(Value(sweep, "mean_sum_ns", 2), 40);  // 10 + 5 + 20 + 5
  EXPECT_EQ(Value(sweep, "mean_sum_ns", 3), 42);
  EXPECT_EQ(Value(sweep, "mean_gap_ns", 2), 460);
}

TEST(NsysSteps, ByModuleReducesOverRanks) {
  const TestRun run(TwoRanks());
  StepsOptions options;
  options.presentation.for_people = false;
  options.by_module = true;
  options.rank_reduce = RankReduce::kMax;
  const base::Result<Output> output = ComputeSteps(run.input(), options);
  ASSERT_TRUE(output.ok());
  const table::Table rows = TableOf(*output->reduced, "rows");
  ASSERT_EQ(rows.size(), 9U);  // prefill: layer 0; each decode step: two layers and two mlps
  EXPECT_EQ(Value(rows, "sum_ns", 0), 100);
  EXPECT_EQ(Text(rows, "key", 1), "model.layers.1.mlp");
  EXPECT_EQ(Value(rows, "step", 1), 1);
  EXPECT_EQ(Value(rows, "n_ranks", 1), 2);
  EXPECT_EQ(Value(rows, "sum_ns", 1), 21);
  const table::Table sweep = TableOf(*output->reduced, "sweep");
  ASSERT_EQ(sweep.size(), 5U);
  EXPECT_EQ(Text(sweep, "key", 1), "model.layers.1.mlp");
  EXPECT_EQ(Value(sweep, "mean_sum_ns", 1), 21);
  EXPECT_EQ(Value(sweep, "n_steps", 1), 2);
}

TEST(NsysGraphs, AWholeGraphIsBusyTimeAndNoKernel) {
  TraceBuilder build;
  build.Nsys();
  build.GpuProcess(100);
  const auto main = build.Thread(100, 1);
  build.PathScope(main, "model", 0, 1000);
  build.Annotation(main, "step[DECODE bs=4]", 0, 1000);
  build.Call(main, "cudaGraphLaunch_v10000", 10, 1);
  build.Activity(trace::ActivityKind::kGraph, "[graph] 4", 100, 300, 1);
  const TestRun run(std::move(build).Build());
  const RankView view(run.rank(), run.rules());
  const StepRows steps = BuildStepRows(view);
  ASSERT_EQ(steps.rows.size(), 1U);
  EXPECT_EQ(steps.rows[0].busy_ns, 300);
  EXPECT_EQ(steps.rows[0].sum_ns, 300);
  EXPECT_EQ(steps.rows[0].n_kernels, 0);
  EXPECT_EQ(steps.rows[0].launch_mode(), LaunchMode::kGraph);
  const ModuleNodes nodes = BuildModuleNodes(view);
  EXPECT_EQ(nodes.total_ns, 300);
  EXPECT_EQ(nodes.total_kernels, 0);
  EXPECT_EQ(nodes.unattributed.by_reason[static_cast<size_t>(attribution::Reason::kGraphLaunch)],
            300);
  EXPECT_EQ(nodes.nodes[0].gpu_incl_ns, 0);
}

}  // namespace
}  // namespace layerscope::analysis

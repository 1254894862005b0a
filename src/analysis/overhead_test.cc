#include "src/analysis/overhead.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "src/analysis/overhead_medians.h"
#include "src/analysis/overhead_table.h"

#include "tests/support/test_run.h"
#include "tests/support/trace_builder.h"

namespace layerscope::analysis {
namespace {

using tests::TraceBuilder;

std::string AbstentionCode(trace::Trace trace) {
  const TestRun run(std::move(trace));
  const base::Result<Output> output = ComputeOverhead(run.input(), {});
  if (!output.ok() || !output->ranks.at(0).abstained) return {};
  return output->ranks[0].abstained->code;
}

TEST(Overhead, AbstainsWhereItHasNothingToAccountFor) {
  TraceBuilder cpu;
  const auto cpu_thread = cpu.Thread(12, 1);
  cpu.Annotation(cpu_thread, "step[DECODE bs=4]", 0, 100);
  cpu.Op(cpu_thread, "aten::mm", 10, 20);
  EXPECT_EQ(AbstentionCode(std::move(cpu).Build()), "no_gpu_work");

  TraceBuilder steps_only;
  steps_only.Annotation(steps_only.Thread(12, 1), "step[DECODE bs=4]", 0, 100);
  EXPECT_EQ(AbstentionCode(std::move(steps_only).Build()), "no_gpu_work");

  TraceBuilder no_steps;
  no_steps.Call(no_steps.Thread(12, 1), "cudaLaunchKernel", 1, 1);
  no_steps.Kernel("gemm", 10, 5, 1);
  EXPECT_EQ(AbstentionCode(std::move(no_steps).Build()), "no_steps");

  TraceBuilder no_launches;
  no_launches.Annotation(no_launches.Thread(12, 1), "step[DECODE bs=4]", 0, 100);
  no_launches.Kernel("gemm", 10, 5, 1);
  EXPECT_EQ(AbstentionCode(std::move(no_launches).Build()), "no_step_work");
}

OverheadRow Row(std::optional<int64_t> requests, int64_t compute_ns, int64_t launch_ns) {
  OverheadRow row;
  row.phase = attribution::Phase::kDecode;
  row.requests = requests;
  row.lines[OverheadLine::kCompute] = compute_ns;
  row.lines[OverheadLine::kLaunchGap] = launch_ns;
  row.wall_ns = compute_ns + launch_ns;
  return row;
}

TEST(Overhead, WarnsOfNoModules) {
  TraceBuilder build;
  const auto main = build.Thread(12, 1);
  build.Annotation(main, "step[DECODE bs=4]", 0, 100);
  build.Call(main, "cudaGraphLaunch", 1, 1);
  build.Kernel("gemm", 10, 5, 1);
  const TestRun run(std::move(build).Build());
  const base::Result<Output> output = ComputeOverhead(run.input(), {});
  ASSERT_TRUE(output.ok());
  EXPECT_FALSE(output->ranks[0].shows_modules);
}

OverheadRows Decodes(const std::vector<int64_t>& launch_ns) {
  OverheadRows overhead;
  for (const int64_t ns : launch_ns) {
    OverheadRow row;
    row.phase = attribution::Phase::kDecode;
    row.requests = 4;
    row.index = static_cast<int64_t>(overhead.rows.size());
    row.lines[OverheadLine::kCompute] = 1000;
    row.lines[OverheadLine::kHostWait] = ns > 0 ? 40 : 0;
    row.lines[OverheadLine::kLaunchGap] = ns;
    row.wall_ns = row.lines.total_ns();
    overhead.rows.push_back(row);
  }
  return overhead;
}

std::vector<std::string> Worst(const OverheadRows& overhead, size_t n_listed) {
  const TestRun run(TraceBuilder().Build());
  const RankView view(run.rank(), run.rules());
  table::Table listed;
  listed.n_rows = n_listed;
  return WorstTexts(view, overhead, SummariseOverhead(overhead.rows), listed);
}

TEST(Overhead, AStepIsUnusualOnlyAmongSeveralLikeIt) {
  EXPECT_TRUE(Worst(Decodes({0, 100}), 2).empty());
  EXPECT_EQ(Worst(Decodes({0, 0, 60}), 3),
            (std::vector<std::string>{"* step 2: 1.10 us, 100 ns over the median of 3 like it; "
                                      "launch_gap +60 ns, host_wait +40 ns"}));
  EXPECT_EQ(Worst(Decodes({0, 0, 200}), 2),
            (std::vector<std::string>{"* step 2 (not listed above): 1.24 us, 240 ns over the "
                                      "median of 3 like it; launch_gap +200 ns"}));
}

TEST(OverheadMedians, GroupByPhaseAndRequestsAndLeaveOutStepsWithoutAWall) {
  const OverheadSummary summary = SummariseOverhead(
      {Row(4, 10, 1), Row(8, 50, 5), Row(4, 12, 9), Row(4, 11, 2), Row(4, 0, 0), Row({}, 3, 0)});
  ASSERT_EQ(summary.medians.size(), 3U);  // by time: 8 requests 55, 4 requests 45, unknown 3
  EXPECT_EQ(summary.medians[0].requests, 8);
  const OverheadMedian& four = summary.medians[1];
  EXPECT_EQ(four.n_steps, 3);
  EXPECT_EQ(four.wall_ns, 13);  // of 11, 13, 21
  EXPECT_EQ(four.lines[OverheadLine::kCompute], 11);
  EXPECT_EQ(four.lines[OverheadLine::kLaunchGap], 2);
  EXPECT_EQ(four.sum_wall_ns(), 45);
  EXPECT_EQ(summary.medians[2].requests, std::nullopt);
}

TEST(OverheadMedians, TheWorstStepsAreThoseFarthestOverTheMedianOfTheirLike) {
  std::vector<OverheadRow> rows(7, Row(4, 10, 1));
  for (int64_t i = 0; i < 3; ++i) rows.push_back(Row(8, 1000, 0));
  rows.push_back(Row(4, 12, 30));
  rows.push_back(Row(4, 14, 1));
  const OverheadSummary summary = SummariseOverhead(rows);
  ASSERT_EQ(summary.worst.size(), 2U);  // a prefill-sized step is no worse than its like
  EXPECT_EQ(summary.worst[0].row, 10U);
  EXPECT_EQ(summary.worst[0].over_ns, 31);
  EXPECT_EQ(summary.worst[0].line, OverheadLine::kLaunchGap);
  EXPECT_EQ(summary.worst[0].line_over_ns, 29);
  EXPECT_EQ(summary.worst[1].row, 11U);
  EXPECT_EQ(summary.worst[1].line, OverheadLine::kCompute);
}

}  // namespace
}  // namespace layerscope::analysis

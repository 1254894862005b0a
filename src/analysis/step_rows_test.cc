#include "src/analysis/step_rows.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/support/test_run.h"
#include "tests/support/trace_builder.h"

namespace layerscope::analysis {
namespace {

using tests::TraceBuilder;

TraceBuilder OneStep() {
  TraceBuilder build;
  const auto main = build.Thread(12, 1);
  build.Annotation(main, "step[DECODE bs=4]", 0, 100);
  for (int64_t i = 1; i <= 3; ++i) build.Call(main, "cudaLaunchKernel", 10 * i, i);
  build.Call(main, "cudaLaunchKernel", 500, 4);
  build.Kernel("gemm", 200, 40, 1);
  build.Kernel("gemm", 230, 20, 2);  // overlaps by 10
  build.Activity(trace::ActivityKind::kMemcpy, "Memcpy", 300, 10, 3);
  build.Kernel("late", 600, 9, 4);
  return build;
}

TEST(StepRows, WallBusyIdleAndSumAreFourNumbers) {
  const TestRun run(OneStep().Build());
  const StepRows steps = BuildStepRows(RankView(run.rank(), run.rules()));
  ASSERT_EQ(steps.rows.size(), 1U);
  const StepRow& row = steps.rows[0];
  EXPECT_EQ(row.sum_ns, 70);
  EXPECT_EQ(row.wall_ns(), 110);
  EXPECT_EQ(row.busy_ns, 60);
  EXPECT_EQ(row.idle_ns(), 50);
  EXPECT_EQ(row.n_kernels, 2);
  EXPECT_EQ(row.n_activities, 3);
  EXPECT_EQ(row.n_launches, 3);
  EXPECT_EQ(row.tokens(), 4);
  EXPECT_EQ(row.ns_per_token(), 28);  // 110 / 4 = 27.5, half to even
  EXPECT_EQ(steps.outside.gpu_ns, 9);
  EXPECT_EQ(steps.outside.kernels, 1);
}

TEST(StepRows, StepsOfSeveralRanksAreCountedForEach) {
  const auto two_ranks = [] {
    TraceBuilder build;
    for (const int64_t pid : {12, 13}) {
      for (int64_t i = 0; i < 2; ++i) {
        build.Annotation(build.Thread(pid, 1), "step[DECODE bs=4]", 100 * i, 100);
        build.Call(build.Thread(pid, 1), "cudaLaunchKernel", 100 * i + 1, 1 + i);
      }
    }
    return build;
  };
  const TestRun run(two_ranks().Build());
  EXPECT_EQ(StepCountText(RankView(run.rank(), run.rules())), "2 steps on each of 2 ranks");
  TraceBuilder more = two_ranks();
  more.Annotation(more.Thread(12, 1), "step[DECODE bs=4]", 500, 100);
  const TestRun uneven(std::move(more).Build());
  EXPECT_EQ(StepCountText(RankView(uneven.rank(), uneven.rules())), "5 steps on 2 ranks");
}

TEST(StepRows, AStepOnTwoDevicesHasARowForEach) {
  trace::Trace trace = OneStep().Build();
  trace.devices.push_back({trace::Label{1, {}}});
  trace.streams.push_back({trace::DeviceId(1), trace::Label{7, {}}});
  trace.activities.stream[1] = trace::StreamId(1);
  const TestRun run(std::move(trace));
  const StepRows steps = BuildStepRows(RankView(run.rank(), run.rules()));
  ASSERT_EQ(steps.rows.size(), 2U);
  EXPECT_EQ(steps.rows[0].place.device, LabelValue(int64_t{0}));
  EXPECT_EQ(steps.rows[0].sum_ns, 50);
  EXPECT_EQ(steps.rows[1].place.device, LabelValue(int64_t{1}));
  EXPECT_EQ(steps.rows[1].wall_ns(), 20);
}

TEST(StepRows, WhatOtherStepsRunInTheWindowIsNoIdleOfTheGpu) {
  TraceBuilder build;
  const auto main = build.Thread(12, 1);
  build.Annotation(main, "ProfilerStep#1", 0, 100);
  build.Annotation(main, "ProfilerStep#2", 100, 100);
  build.Call(main, "cudaLaunchKernel", 1, 1);
  build.Call(main, "cudaLaunchKernel", 2, 2);
  build.Call(main, "cudaLaunchKernel", 101, 3);
  build.Kernel("gemm", 200, 10, 1);
  build.Kernel("gemm", 215, 20, 3);
  build.Kernel("gemm", 240, 10, 2);
  const TestRun run(std::move(build).Build());
  const StepRows steps = BuildStepRows(RankView(run.rank(), run.rules()));
  ASSERT_EQ(steps.rows.size(), 2U);
  EXPECT_EQ(steps.rows[0].wall_ns(), 50);
  EXPECT_EQ(steps.rows[0].idle_ns(), 30);
  EXPECT_EQ(steps.rows[0].gpu_idle_ns, 10);  // [210, 215) and [235, 240)
  EXPECT_EQ(steps.rows[1].gpu_idle_ns, 0);
  EXPECT_EQ(steps.n_overlaps, 1);
}

TEST(StepRows, AStepThatLaunchedNothingHasNoWall) {
  TraceBuilder build;
  build.Annotation(build.Thread(12, 1), "bench_step::7::bs::2::past::64", 0, 100);
  build.Kernel("gemm", 200, 40, 1);
  const TestRun run(std::move(build).Build());
  const StepRows steps = BuildStepRows(RankView(run.rank(), run.rules()));
  ASSERT_EQ(steps.rows.size(), 1U);
  EXPECT_FALSE(steps.rows[0].has_activities);
  EXPECT_EQ(steps.rows[0].index, 7);  // a bench step is known by its own number
  EXPECT_EQ(steps.rows[0].ns_per_token(), std::nullopt);
  EXPECT_EQ(steps.outside.gpu_ns, 40);
}

// Marked 2 and 0, unmarked three: 3, 4 and 5 stand behind the marked ones, in order of time.
TEST(StepRows, UnmarkedStepsAreNumberedBehindTheMarkedOnes) {
  TraceBuilder build;
  const auto main = build.Thread(12, 1);
  build.Annotation(main, "step[EXTEND bs=1 toks=8]", 0, 10);
  build.Annotation(main, "bench_step::2::bs::1::past::8", 100, 10);
  build.Annotation(main, "step[DECODE bs=1]", 200, 10);
  build.Annotation(main, "bench_step::0::bs::1::past::9", 300, 10);
  build.Annotation(main, "step[DECODE bs=1]", 400, 10);
  const TestRun run(std::move(build).Build());
  const auto numbers = [](const RankView& view) {
    std::vector<int64_t> found;
    for (const StepRow& row : BuildStepRows(view).rows) found.push_back(row.index);
    return found;
  };
  EXPECT_EQ(numbers(RankView(run.rank(), run.rules())), (std::vector<int64_t>{3, 2, 4, 0, 5}));
  RankInput of_run = run.rank();
  of_run.first_unmarked_step = 7;  // another file of the run has bench_step::6
  EXPECT_EQ(numbers(RankView(of_run, run.rules())), (std::vector<int64_t>{7, 2, 8, 0, 9}));
}

}  // namespace
}  // namespace layerscope::analysis

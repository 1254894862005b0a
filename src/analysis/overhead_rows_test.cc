#include "src/analysis/overhead_rows.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "src/analysis/overhead_windows.h"
#include "src/analysis/selection.h"

#include "tests/support/test_run.h"
#include "tests/support/trace_builder.h"

namespace layerscope::analysis {
namespace {

using tests::TraceBuilder;
using Lines = std::map<std::string, int64_t>;

/// The lines that are not 0.
Lines LinesOf(const OverheadRow& row) {
  Lines lines;
  for (const OverheadLine line : kAllOverheadLines) {
    if (row.lines[line] != 0) lines[std::string(ToString(line))] = row.lines[line];
  }
  return lines;
}

/// A call with a length: [start, start + dur).
void Call(TraceBuilder& build, std::vector<int64_t>& durations, trace::ThreadId thread,
          const char* name, int64_t start_ns, int64_t dur_ns, int64_t correlation) {
  build.Call(thread, name, start_ns, correlation);
  durations.push_back(dur_ns);
}

trace::Trace WithDurations(TraceBuilder build, std::vector<int64_t> durations) {
  trace::Trace trace = std::move(build).Build();
  trace.calls.dur_ns = std::move(durations);
  return trace;
}

/// Two steps in which every line has a time that is counted by hand.
trace::Trace EveryLine() {
  TraceBuilder build;
  std::vector<int64_t> dur;
  const auto main = build.Thread(12, 1);
  build.Annotation(main, "step[DECODE bs=4]", 0, 1000);
  build.Annotation(main, "step[DECODE bs=4]", 1200, 500);
  Call(build, dur, main, "cudaLaunchKernel", 100, 10, 1);
  Call(build, dur, main, "cudaLaunchKernel", 120, 10, 2);
  Call(build, dur, main, "cudaMemcpyAsync", 130, 10, 3);
  Call(build, dur, main, "cudaLaunchKernel", 140, 10, 4);
  Call(build, dur, main, "cudaStreamSynchronize", 420, 60, 0);
  Call(build, dur, main, "cudaLaunchKernel", 500, 10, 5);
  Call(build, dur, main, "cudaGraphLaunch", 610, 200, 6);
  Call(build, dur, main, "cudaLaunchKernel", 1250, 10, 7);
  build.Kernel("gemm", 150, 100, 1);  // nothing ran before: launch gap from 0
  build.Kernel("nccl", 200, 100, 2);  // 50 hidden, 50 exposed
  build.Activity(trace::ActivityKind::kMemcpy, "Memcpy", 290, 40, 3);  // 10 hidden
  build.Kernel("gemm", 360, 40, 4);  // launched at 150, idle since 330: queued
  build.Kernel("gemm", 520, 40, 5);  // idle since 400, of that 60 in the synchronising call
  build.Kernel("gemm", 600, 20, 0);  // no launch
  build.Kernel("gemm", 700, 20, 6);  // its graph launch returns later
  build.Kernel("gemm", 750, 50, 6);  // its graph runs already: queued
  build.Kernel("gemm", 1300, 100, 7);
  return WithDurations(std::move(build), std::move(dur));
}

TEST(OverheadRows, EveryInstantGoesToTheFirstLineThatHolds) {
  const TestRun run(EveryLine());
  const OverheadRows overhead = BuildOverheadRows(RankView(run.rank(), run.rules()));
  ASSERT_EQ(overhead.rows.size(), 2U);
  const OverheadRow& first = overhead.rows[0];
  EXPECT_EQ(first.from_ns, 0);
  EXPECT_EQ(first.wall_ns, 800);
  EXPECT_EQ(LinesOf(first), (Lines{{"compute", 270},
                                   {"exposed_comm", 50},
                                   {"memcpy", 30},
                                   {"queued_gap", 60},
                                   {"host_wait", 60},
                                   {"launch_gap", 290},
                                   {"unexplained", 40}}));
  EXPECT_EQ(first.host_wall_ns, 1000);
  EXPECT_EQ(first.busy_ns, 330);  // [150, 330) [360, 400) [520, 560) and the graph's 20 + 50
  EXPECT_EQ(first.gap().ns(), 670);
  EXPECT_EQ(first.n_kernels, 6);
  EXPECT_EQ(first.n_graph_kernels, 2);
  EXPECT_EQ(first.launch_mode(), LaunchMode::kMixed);
  const OverheadRow& second = overhead.rows[1];
  EXPECT_EQ(second.from_ns, 800);
  EXPECT_EQ(second.wall_ns, 600);
  // [800, 1000) inside the first annotation, [1000, 1200) outside, [1200, 1300) inside the second.
  EXPECT_EQ(LinesOf(second),
            (Lines{{"compute", 100}, {"launch_gap", 300}, {"between_steps", 200}}));
  EXPECT_EQ(second.launch_mode(), LaunchMode::kEager);
}

TEST(OverheadRows, SelectedStepsKeepTheWindowsOfTheWholeTrace) {
  const TestRun run(EveryLine());
  Selection selection;
  selection.steps = {1, 1};
  const auto views = Select(run.input(), selection);
  ASSERT_TRUE(views.ok());
  const OverheadRows overhead = BuildOverheadRows(views->front());
  ASSERT_EQ(overhead.rows.size(), 1U);
  EXPECT_EQ(overhead.rows[0].index, 1);
  EXPECT_EQ(overhead.rows[0].from_ns, 800);
  EXPECT_EQ(overhead.rows[0].wall_ns, 600);
}

TEST(OverheadRows, AnActivityWithoutLengthEndsAnIdleTimeAndBeginsAnother) {
  TraceBuilder build;
  const auto main = build.Thread(12, 1);
  build.Annotation(main, "step[DECODE bs=4]", 0, 300);
  build.Call(main, "cudaLaunchKernel", 50, 1);
  build.Call(main, "cudaLaunchKernel", 60, 2);
  build.Kernel("gemm", 100, 0, 1);
  build.Kernel("gemm", 200, 10, 2);
  const TestRun run(std::move(build).Build());
  const OverheadRows overhead = BuildOverheadRows(RankView(run.rank(), run.rules()));
  ASSERT_EQ(overhead.rows.size(), 1U);
  EXPECT_EQ(LinesOf(overhead.rows[0]),
            (Lines{{"compute", 10}, {"launch_gap", 100}, {"queued_gap", 100}}));
}

TEST(OverheadRows, OnlyTheLaunchingThreadWaits) {
  TraceBuilder build;
  std::vector<int64_t> dur;
  const auto main = build.Thread(12, 1);
  const auto other = build.Thread(12, 2);
  build.Annotation(main, "step[DECODE bs=4]", 0, 300);
  Call(build, dur, main, "cudaLaunchKernel", 10, 1, 1);
  Call(build, dur, other, "cudaDeviceSynchronize", 20, 200, 0);
  Call(build, dur, main, "cudaLaunchKernel", 150, 1, 2);
  Call(build, dur, other, "cudaLaunchKernel", 230, 1, 3);
  build.Kernel("gemm", 20, 30, 1);
  build.Kernel("gemm", 160, 10, 2);
  build.Kernel("gemm", 240, 10, 3);
  const TestRun run(WithDurations(std::move(build), std::move(dur)));
  const OverheadRows overhead = BuildOverheadRows(RankView(run.rank(), run.rules()));
  ASSERT_EQ(overhead.rows.size(), 1U);
  // Before the first 20, before the second 110; before the third 50 waiting and 20 not.
  EXPECT_EQ(LinesOf(overhead.rows[0]),
            (Lines{{"compute", 50}, {"launch_gap", 150}, {"host_wait", 50}}));
}

TEST(OverheadRows, EachProcessHasABudgetOfItsOwn) {
  TraceBuilder build;
  build.Nsys();
  const auto a = build.Thread(1, 1);
  const auto b = build.Thread(2, 2);
  build.Annotation(a, "step[DECODE bs=4]", 0, 100);
  build.Annotation(b, "step[DECODE bs=4]", 50, 100);
  build.Call(a, "cudaLaunchKernel", 10, 1);
  build.Call(b, "cudaLaunchKernel", 60, 1);
  build.GpuProcess(1);
  build.GpuStream(0, 7);
  build.Kernel("gemm", 20, 50, 1);
  build.GpuProcess(2);
  build.GpuStream(1, 7);
  build.Kernel("gemm", 80, 50, 1);
  const TestRun run(std::move(build).Build());
  const OverheadRows overhead = BuildOverheadRows(RankView(run.rank(), run.rules()));
  ASSERT_EQ(overhead.rows.size(), 2U);
  EXPECT_EQ(overhead.rows[0].wall_ns, 70);
  EXPECT_EQ(LinesOf(overhead.rows[0]), (Lines{{"compute", 50}, {"launch_gap", 20}}));
  EXPECT_EQ(overhead.rows[0].place.rank, LabelValue(int64_t{0}));
  EXPECT_EQ(overhead.rows[1].wall_ns, 80);
  EXPECT_EQ(LinesOf(overhead.rows[1]), (Lines{{"compute", 50}, {"launch_gap", 30}}));
  EXPECT_EQ(overhead.rows[1].place.rank, LabelValue(int64_t{1}));
}

TEST(OverheadRows, AProcessIdlesWhenAllItsDevicesDo) {
  TraceBuilder build;
  const auto main = build.Thread(12, 1);
  build.Annotation(main, "step[DECODE bs=4]", 0, 300);
  build.Call(main, "cudaLaunchKernel", 10, 1);
  build.Call(main, "cudaLaunchKernel", 60, 2);
  build.GpuStream(0, 7);
  build.Kernel("gemm", 20, 50, 1);
  build.GpuStream(1, 7);
  build.Kernel("gemm", 65, 50, 2);
  const TestRun run(std::move(build).Build());
  const RankView view(run.rank(), run.rules());
  const OverheadRow both = BuildOverheadRows(view).rows.at(0);
  EXPECT_EQ(LinesOf(both), (Lines{{"compute", 95}, {"launch_gap", 20}}));
  EXPECT_EQ(both.busy_ns, 95);
  const OverheadRow of_first = BuildOverheadRows(view, "0").rows.at(0);
  EXPECT_EQ(LinesOf(of_first), (Lines{{"compute", 50}, {"launch_gap", 20}}));
  const OverheadRow of_second = BuildOverheadRows(view, "1").rows.at(0);
  EXPECT_EQ(LinesOf(of_second), (Lines{{"compute", 50}, {"launch_gap", 65}}));
}

TEST(OverheadRows, AWholeGraphComputes) {
  TraceBuilder build;
  build.Nsys();
  const auto main = build.Thread(12, 1);
  build.GpuProcess(12);
  build.Annotation(main, "step[DECODE bs=4]", 0, 300);
  build.Call(main, "cudaGraphLaunch_v10000", 10, 1);
  build.Activity(trace::ActivityKind::kGraph, "[graph] 3", 20, 50, 1);
  const TestRun run(std::move(build).Build());
  const OverheadRow row = BuildOverheadRows(RankView(run.rank(), run.rules())).rows.at(0);
  EXPECT_EQ(LinesOf(row), (Lines{{"compute", 50}, {"launch_gap", 20}}));
  EXPECT_EQ(row.n_kernels, 0);
  EXPECT_EQ(row.n_whole_graphs, 1);
  EXPECT_EQ(row.launch_mode(), LaunchMode::kGraph);
}

TEST(OverheadWindows, RunFromTheLastCompletionOfTheStepsBefore) {
  const std::vector<StepCompletion> steps = {
      {10, std::nullopt}, {20, 50}, {30, 45}, {40, std::nullopt}, {60, 90}};
  std::vector<std::pair<int64_t, int64_t>> windows;
  for (const StepWindow& window : BuildStepWindows(steps)) {
    windows.emplace_back(window.from_ns, window.to_ns);
  }
  EXPECT_EQ(windows, (std::vector<std::pair<int64_t, int64_t>>{
                         {10, 10}, {20, 50}, {50, 50}, {50, 50}, {50, 90}}));
}

TEST(OverheadWindows, AreEmptyWhereTheFirstCompletesBeforeItsAnnotation) {
  const std::vector<StepWindow> windows =
      BuildStepWindows(std::vector<StepCompletion>{{100, 80}, {120, 150}});
  ASSERT_EQ(windows.size(), 2U);
  EXPECT_EQ(windows[0].wall_ns(), 0);
  EXPECT_EQ(windows[1].from_ns, 100);
  EXPECT_EQ(windows[1].wall_ns(), 50);
}

}  // namespace
}  // namespace layerscope::analysis

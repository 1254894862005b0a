#include "src/analysis/info.h"

#include <gtest/gtest.h>

#include "src/analysis/launch_counts.h"
#include "src/analysis/run_ranks.h"

#include "tests/support/test_run.h"
#include "tests/support/trace_builder.h"

namespace layerscope::analysis {
namespace {

using tests::TraceBuilder;

TEST(LaunchCounts, LaunchesAndActivitiesThatDoNotMeetAreCounted) {
  TraceBuilder build;
  const auto main = build.Thread(12, 1);
  build.Call(main, "cudaLaunchKernel", 0, 1);
  build.Call(main, "cudaLaunchKernel", 5, 2);  // nothing has its correlation
  build.Call(main, "cudaLaunchKernel", 6, 0);  // no correlation
  build.Call(main, "cudaGraphLaunch", 10, 3);
  build.Call(main, "cudaMemcpyAsync", 20, 4);
  build.Kernel("gemm", 100, 10, 1);
  build.Kernel("replayed", 110, 20, 3);
  build.Kernel("replayed", 130, 20, 3);
  build.Kernel("by a call that is no launch", 150, 5, 4);
  build.Kernel("from before", 90, 5, 77);
  build.Activity(trace::ActivityKind::kMemcpy, "Memcpy", 160, 5, 78);
  const TestRun run(std::move(build).Build());
  const LaunchCounts counts = CountLaunches(RankView(run.rank(), run.rules()));
  EXPECT_EQ(counts.n, 4);
  EXPECT_EQ(counts.graph, 1);
  EXPECT_EQ(counts.without_activity, 2);
  EXPECT_EQ(counts.max_kernels, 2);
  EXPECT_EQ(counts.graph_kernel_sum_ns, 40);
  EXPECT_EQ(counts.kernels_without_launch, 2);
  EXPECT_EQ(counts.activities_without_call, 2);
}

TEST(RunRanks, MissingRanksAreThoseBelowTheWorldSize) {
  trace::Trace trace = TraceBuilder().Build();
  trace.metadata.world_size = 8;
  const TestRun run(std::move(trace), 2);
  const RunRanks ranks = FindRanks(run.input());
  EXPECT_EQ(ranks.present, (std::vector<int64_t>{2}));
  EXPECT_EQ(ranks.missing, (std::vector<int64_t>{0, 1, 3, 4, 5, 6, 7}));
  EXPECT_EQ(ToText(ranks), "2 of 8; missing: 0-1, 3-7");
}

TEST(RunRanks, WithoutAWorldSizeNothingIsSaidToBeMissing) {
  const TestRun run(TraceBuilder().Build(), 2);
  EXPECT_EQ(FindRanks(run.input()).missing, std::nullopt);
}

TEST(RunRanks, AnAbsurdWorldSizeIsNotBelieved) {
  trace::Trace trace = TraceBuilder().Build();
  trace.metadata.world_size = int64_t{1} << 40;
  const TestRun run(std::move(trace), 2);
  EXPECT_EQ(FindRanks(run.input()).world_size, std::nullopt);
}

TEST(Info, FiguresAreOfTheWholeFileWhateverRankIsChosen) {
  TraceBuilder build;
  build.Call(build.Thread(20, 1), "cudaLaunchKernel", 0, 1);
  build.Call(build.Thread(30, 1), "cudaLaunchKernel", 0, 2);
  build.Kernel("gemm", 5, 3, 1);
  build.Kernel("gemm", 9, 4, 2);
  const TestRun run(std::move(build).Build());
  InfoOptions options;
  options.selection.rank = 1;
  base::Result<Output> output = ComputeInfo(run.input(), options);
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(output->ranks[0].coverage.total_ns, 7);
}

}  // namespace
}  // namespace layerscope::analysis

#include "src/analysis/process_ranks.h"

#include <gtest/gtest.h>

#include "tests/support/test_run.h"
#include "tests/support/trace_builder.h"

namespace layerscope::analysis {
namespace {

using tests::TraceBuilder;

TEST(ProcessRanks, OneProcessStaysUnknownWithoutAWord) {
  TraceBuilder build;
  build.Call(build.Thread(12, 1), "cudaLaunchKernel", 0, 1);
  const TestRun run(std::move(build).Build());
  const ProcessRanks ranks = RanksOfProcesses(run.rank());
  ASSERT_EQ(ranks.hosts.size(), 1U);
  EXPECT_EQ(ranks.rank_of[ranks.hosts[0].index()], std::nullopt);
}

TEST(ProcessRanks, SeveralProcessesAreNumberedByPid) {
  TraceBuilder build;
  build.Call(build.Thread(30, 1), "cudaLaunchKernel", 0, 1);
  build.Call(build.Thread(20, 1), "cudaLaunchKernel", 0, 2);
  build.Kernel("k", 5, 1, 1);  // the GPU's own pid 0 is no host process
  const TestRun run(std::move(build).Build());
  const ProcessRanks ranks = RanksOfProcesses(run.rank());
  ASSERT_EQ(ranks.hosts.size(), 2U);
  EXPECT_EQ(run.trace().processes[ranks.hosts[0].index()].pid.number, 20);
  EXPECT_EQ(ranks.rank_of[ranks.hosts[0].index()], 0);
  EXPECT_EQ(ranks.rank_of[ranks.hosts[1].index()], 1);
}

TEST(ProcessRanks, LabelsThatNameARankGoFirst) {
  TraceBuilder build;
  build.Call(build.Thread("[TP-1] 20", 1), "cudaLaunchKernel", 0, 1);
  build.Call(build.Thread("[TP-0] 30", 1), "cudaLaunchKernel", 0, 1);
  const TestRun run(std::move(build).Build());
  const ProcessRanks ranks = RanksOfProcesses(run.rank());
  ASSERT_EQ(ranks.hosts.size(), 2U);
  EXPECT_EQ(ranks.rank_of[ranks.hosts[0].index()], 0);
  EXPECT_EQ(ranks.rank_of[ranks.hosts[1].index()], 1);
}

TEST(ProcessRanks, TheFilesRankHoldsForAll) {
  TraceBuilder build;
  build.Call(build.Thread(20, 1), "cudaLaunchKernel", 0, 1);
  build.Call(build.Thread(30, 1), "cudaLaunchKernel", 0, 1);
  const TestRun run(std::move(build).Build(), 5);
  const ProcessRanks ranks = RanksOfProcesses(run.rank());
  EXPECT_EQ(ranks.rank_of[ranks.hosts[0].index()], 5);
  EXPECT_EQ(ranks.rank_of[ranks.hosts[1].index()], 5);
}

TEST(ProcessRanks, RanksThatTheFileTellsGoBeforeTheOrderOfPids) {
  TraceBuilder build;
  build.Call(build.Thread(20, 1), "cudaLaunchKernel", 0, 1);
  build.Call(build.Thread(30, 1), "cudaLaunchKernel", 0, 1);
  build.Call(build.Thread(40, 1), "cudaLaunchKernel", 0, 1);
  trace::Trace trace = std::move(build).Build();
  for (trace::Process& process : trace.processes) {
    if (process.pid.number == 20) process.rank = 5;
    if (process.pid.number == 30) process.rank = 2;
  }
  const TestRun run(std::move(trace));
  const ProcessRanks ranks = RanksOfProcesses(run.rank());
  ASSERT_EQ(ranks.hosts.size(), 3U);
  EXPECT_EQ(ranks.rank_of[ranks.hosts[0].index()], 5);
  EXPECT_EQ(ranks.rank_of[ranks.hosts[1].index()], 2);
  EXPECT_EQ(ranks.rank_of[ranks.hosts[2].index()], std::nullopt);  // 2 would be taken
}

TEST(RankInLabel, ReadsTheNumberBehindTp) {
  EXPECT_EQ(RankInLabel("[TP-12] 7"), 12);
  EXPECT_EQ(RankInLabel("stream 7"), std::nullopt);
  EXPECT_EQ(RankInLabel("TP-"), std::nullopt);
}

}  // namespace
}  // namespace layerscope::analysis

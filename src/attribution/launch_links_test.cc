#include "src/attribution/launch_links.h"

#include <gtest/gtest.h>

#include <vector>

#include "src/attribution/attribution.h"

#include "tests/support/trace_builder.h"

namespace layerscope::attribution {
namespace {

using tests::TraceBuilder;
using trace::CallId;

std::vector<CallId> Links(const trace::Trace& trace) {
  const CallNameFlags names = ClassifyCallNames(trace);
  const HostProcesses hosts(trace);
  return LaunchLinks(trace, hosts, names.is_launch).LinkAll();
}

TEST(LaunchLinks, FollowsTheCorrelation) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Call(main, "cudaLaunchKernel", 0, 5);
  build.Call(main, "cudaLaunchKernel", 10, 6);
  build.Kernel("a", 20, 1, 6);
  build.Kernel("b", 30, 1, 5);
  build.Kernel("c", 40, 1, 7);
  EXPECT_EQ(Links(build.trace()), (std::vector<CallId>{CallId(1), CallId(0), CallId()}));
}

TEST(LaunchLinks, ZeroAndNegativeCorrelationsLinkNothing) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Call(main, "cudaLaunchKernel", 0, 0);
  build.Call(main, "cudaLaunchKernel", 0, -1);
  build.Kernel("a", 20, 1, 0);
  build.Kernel("b", 30, 1, -1);
  EXPECT_EQ(Links(build.trace()), (std::vector<CallId>{CallId(), CallId()}));
}

TEST(LaunchLinks, PrefersCallsNamedLaunchWhateverTheirTime) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Call(main, "cudaLaunchKernel", 0, 5);
  build.Call(main, "cudaStreamSynchronize", 10, 5);
  build.Kernel("a", 20, 1, 5);
  EXPECT_EQ(Links(build.trace()), (std::vector<CallId>{CallId(0)}));
}

TEST(LaunchLinks, TakesTheLastBeforeTheActivityElseTheFirst) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Call(main, "cuLaunchKernel", 30, 5);
  build.Call(main, "cudaLaunchKernel", 10, 5);
  build.Call(main, "cudaLaunchKernel", 20, 5);
  build.Call(main, "cudaLaunchKernel", 20, 5);
  build.Kernel("between", 25, 1, 5);
  build.Kernel("equal", 20, 1, 5);
  build.Kernel("before all", 5, 1, 5);
  build.Kernel("after all", 50, 1, 5);
  EXPECT_EQ(Links(build.trace()),
            (std::vector<CallId>{CallId(3), CallId(3), CallId(1), CallId(0)}));
}

TEST(LaunchLinks, CallsWithoutLaunchInTheirNameServeWhenThereIsNoOther) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Call(main, "cudaMemcpyAsync", 0, 5);
  build.Kernel("copy", 20, 1, 5);
  EXPECT_EQ(Links(build.trace()), (std::vector<CallId>{CallId(0)}));
}

TEST(LaunchLinks, MergedFilesKeepRanksApart) {
  TraceBuilder build;
  build.Call(build.Thread("[TP-0] 100", 1), "cudaLaunchKernel", 0, 5);
  build.Call(build.Thread("[TP-1] 200", 1), "cudaLaunchKernel", 1, 5);
  build.Call(build.Thread("[TP-1] 200", 1), "cudaLaunchKernel", 2, 6);
  build.GpuProcess("[TP-0] 0");
  build.Kernel("a", 10, 1, 5);
  build.Kernel("launch of rank 0 lost", 10, 1, 6);
  build.GpuProcess("[TP-1] 0");
  build.Kernel("b", 10, 1, 5);
  build.GpuProcess("[TP-2] 0");
  build.Kernel("host of rank 2 lost", 10, 1, 5);
  EXPECT_EQ(Links(build.trace()), (std::vector<CallId>{CallId(0), CallId(), CallId(1), CallId()}));
}

TEST(LaunchLinks, WithoutLabelsTheOwnProcessComesFirstThenAll) {
  TraceBuilder build;
  build.Call(build.Thread(100, 1), "cudaLaunchKernel", 0, 5);
  build.Call(build.Thread(200, 1), "cudaLaunchKernel", 1, 5);
  build.GpuProcess(100);
  build.Kernel("same pid", 10, 1, 5);
  build.GpuProcess(0);
  build.Kernel("plain rule", 10, 1, 5);
  EXPECT_EQ(Links(build.trace()), (std::vector<CallId>{CallId(0), CallId(1)}));
}

TEST(LaunchLinks, NsysActivitiesAreLaunchedByTheirOwnProcess) {
  // Process 200 has a correlation of its own that 100 has too, and one whose call was not recorded.
  TraceBuilder build;
  build.Nsys();
  build.Call(build.Thread(100, 1), "cudaLaunchKernel_v7000", 0, 5);
  build.Call(build.Thread(200, 1), "cudaLaunchKernel_v7000", 1, 5);
  build.Call(build.Thread(100, 1), "cudaLaunchKernel_v7000", 2, 6);
  build.GpuProcess(200);
  build.Kernel("a", 10, 1, 5);
  build.Kernel("call not recorded", 10, 1, 6);
  build.GpuProcess(100);
  build.Kernel("b", 10, 1, 5);
  EXPECT_EQ(Links(build.trace()), (std::vector<CallId>{CallId(1), CallId(), CallId(0)}));
}

TEST(LaunchLinks, NsysNeverLinksToTheOnlyOtherProcess) {
  TraceBuilder build;
  build.Nsys();
  build.Call(build.Thread(100, 1), "cudaLaunchKernel_v7000", 0, 5);
  build.GpuProcess(200);
  build.Kernel("a", 10, 1, 5);
  EXPECT_EQ(Links(build.trace()), (std::vector<CallId>{CallId()}));
  const HostProcesses hosts(build.trace());
  EXPECT_EQ(hosts.HostOf(build.trace().activities.process[0]), build.trace().activities.process[0]);
}

TEST(HostProcesses, FindsTheHostOfWorkWithoutALaunch) {
  TraceBuilder build;
  build.Call(build.Thread("[TP-0] 100", 1), "cudaLaunchKernel", 0, 5);
  build.Call(build.Thread("[TP-1] 200", 1), "cudaLaunchKernel", 0, 5);
  build.GpuProcess("[TP-1] 0");
  build.Kernel("a", 0, 1, 9);
  build.GpuProcess(7);
  build.Kernel("b", 0, 1, 9);
  const trace::Trace& trace = build.trace();
  const HostProcesses hosts(trace);
  EXPECT_EQ(hosts.HostOf(trace.activities.process[0]), trace.threads[1].process);
  EXPECT_FALSE(hosts.HostOf(trace.activities.process[1]).valid());
}

// Two processes: what runs under the first one's number is its own, of the other's not all is.
TEST(HostProcesses, AProcessThatLaunchesAllOfItsWorkIsTheHostOfWhatHasNoLaunch) {
  TraceBuilder build;
  const trace::ThreadId first = build.Thread(40, 1);
  const trace::ThreadId second = build.Thread(50, 1);
  build.Call(first, "cudaLaunchKernel", 0, 1);
  build.Call(second, "cudaLaunchKernel", 0, 2);
  build.Call(first, "cudaLaunchKernel", 5, 3);
  build.GpuProcess(40);
  build.Kernel("own", 10, 1, 1);
  build.Kernel("orphan", 20, 1, trace::kNoCorrelation);
  build.GpuProcess(50);
  build.Kernel("own", 10, 1, 2);
  build.Kernel("another's", 10, 1, 3);
  build.Kernel("orphan", 20, 1, trace::kNoCorrelation);
  build.GpuProcess(0);
  build.Kernel("of a GPU", 20, 1, trace::kNoCorrelation);
  const trace::Trace& trace = build.trace();
  HostProcesses hosts(trace);
  const auto host_of = [&](size_t row) { return hosts.HostOf(trace.activities.process[row]); };
  EXPECT_FALSE(host_of(1).valid());
  hosts.LearnOwnHosts(trace, Links(trace));
  EXPECT_EQ(host_of(1), trace.threads[first.index()].process);
  EXPECT_FALSE(host_of(4).valid());
  EXPECT_FALSE(host_of(5).valid());
}

}  // namespace
}  // namespace layerscope::attribution

#include "src/analysis/place.h"

#include <gtest/gtest.h>

#include <utility>

#include "src/analysis/selection.h"

#include "tests/support/test_run.h"
#include "tests/support/trace_builder.h"

namespace layerscope::analysis {
namespace {

using tests::TraceBuilder;

/// A kernel of `pid` on `device`, with its launch.
void AddKernel(int64_t pid, int64_t device, TraceBuilder& build) {
  build.GpuProcess(pid);
  build.GpuStream(device, 7);
  build.Call(build.Thread(pid, 1), "cudaLaunchKernel", 1, 1 + device);
  build.Kernel("gemm", 10, 5, 1 + device);
}

PlaceColumns Shown(const TestRun& run, const Selection& selection = {}) {
  return PlacesToShow(Select(run.input(), selection)->at(0));
}

TEST(PlacesToShow, OneOfTwoRanksNeedsNoColumn) {
  TraceBuilder build;
  build.Nsys();
  AddKernel(12, 0, build);
  AddKernel(13, 1, build);
  const TestRun run(std::move(build).Build());
  const PlaceColumns both = Shown(run);
  EXPECT_TRUE(both.rank);
  EXPECT_FALSE(both.pid);     // the rank says it
  EXPECT_FALSE(both.device);  // each rank has its own
  Selection first;
  first.rank = 0;
  const PlaceColumns one = Shown(run, first);
  EXPECT_FALSE(one.rank || one.pid || one.device);
}

TEST(PlacesToShow, DevicesOfOneProcessAreToldApart) {
  TraceBuilder build;
  build.Nsys();
  AddKernel(12, 0, build);
  AddKernel(12, 1, build);
  const PlaceColumns shown = Shown(TestRun(std::move(build).Build()));
  EXPECT_TRUE(shown.device);
  EXPECT_FALSE(shown.rank || shown.pid);
}

TEST(PlacesToShow, ProcessesOfOneRankAreToldByPid) {
  TraceBuilder build;
  AddKernel(12, 0, build);
  AddKernel(13, 1, build);
  const TestRun run(std::move(build).Build());
  RankInput rank = run.rank();
  rank.rank = 3;
  const RankView view(rank, run.rules());
  EXPECT_TRUE(PlacesToShow(view).pid);
  EXPECT_FALSE(PlacesToShow(view).rank);
}

}  // namespace
}  // namespace layerscope::analysis

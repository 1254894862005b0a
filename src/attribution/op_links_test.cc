#include "src/attribution/op_links.h"

#include <gtest/gtest.h>

#include "tests/support/trace_builder.h"

namespace layerscope::attribution {
namespace {

using tests::TraceBuilder;
using trace::CallId;
using trace::OpId;
using trace::ProcessId;

TEST(OpLinks, TheOwnExternalIdComesFirst) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Op(main, "own", 0, 10, 1);
  build.Op(main, "of the launch", 20, 10, 2);
  build.Op(main, "around the launch", 40, 10, 3);
  const CallId launch = build.Call(main, "cudaLaunchKernel", 45, 9, 2);
  build.Kernel("a", 50, 1, 9, 1);
  build.Kernel("b", 50, 1, 9, 77);
  build.Kernel("c", 50, 1, 9);
  OpLinks ops(build.trace());
  EXPECT_EQ(ops.Find(0, launch, {}), OpId(0));
  EXPECT_EQ(ops.Find(1, launch, {}), OpId(1));
  EXPECT_EQ(ops.Find(2, launch, {}), OpId(1));
}

TEST(OpLinks, OfSeveralOpsWithOneIdTheLastInTheFileIsTaken) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Op(main, "first", 30, 10, 1);
  build.Op(main, "last", 0, 10, 1);
  build.Kernel("a", 50, 1, 0, 1);
  OpLinks ops(build.trace());
  EXPECT_EQ(ops.Find(0, {}, {}), OpId(1));
}

TEST(OpLinks, WithoutIdsTheInnermostOpOnTheLaunchingThreadIsTaken) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Op(main, "outer", 0, 100);
  build.Op(main, "inner", 40, 10);
  build.Op(build.Thread(1, 2), "other thread", 44, 2);
  const CallId inside = build.Call(main, "cudaLaunchKernel", 45, 9);
  const CallId outside = build.Call(main, "cudaLaunchKernel", 200, 8);
  build.Kernel("a", 300, 1, 9);
  OpLinks ops(build.trace());
  EXPECT_EQ(ops.Find(0, inside, {}), OpId(1));
  EXPECT_FALSE(ops.Find(0, outside, {}).valid());
  EXPECT_FALSE(ops.Find(0, {}, {}).valid());
}

TEST(OpLinks, ExternalIdsOfOtherRanksInAMergedFileDoNotCount) {
  TraceBuilder build;
  const auto rank0 = build.Thread("[TP-0] 100", 1);
  const auto rank1 = build.Thread("[TP-1] 200", 1);
  build.Op(rank0, "of rank 0", 0, 10, 1);
  build.Op(rank1, "of rank 1", 0, 10, 1);
  build.Op(rank1, "of rank 1 alone", 20, 10, 2);
  build.Kernel("a", 50, 1, 0, 1);
  build.Kernel("b", 50, 1, 0, 2);
  const ProcessId host0 = build.trace().threads[rank0.index()].process;
  OpLinks ops(build.trace());
  EXPECT_EQ(ops.Find(0, {}, host0), OpId(0));
  EXPECT_FALSE(ops.Find(1, {}, host0).valid());
  EXPECT_EQ(ops.Find(0, {}, {}), OpId(1)) << "an unknown host searches all, the last wins";
}

}  // namespace
}  // namespace layerscope::attribution

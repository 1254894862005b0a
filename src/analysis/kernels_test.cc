#include "src/analysis/kernels.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/test_run.h"
#include "tests/support/trace_builder.h"

namespace layerscope::analysis {
namespace {

using tests::TraceBuilder;

trace::Trace ThreeKernels() {
  TraceBuilder build;
  const auto main = build.Thread(12, 1);
  build.Op(main, "aten::mm", 0, 20);
  build.Call(main, "cudaLaunchKernel", 5, 1);
  build.Call(main, "cudaLaunchKernel", 30, 2);
  build.Call(main, "cudaLaunchKernel", 40, 3);
  build.Kernel("gemm", 100, 10, 1);
  build.Kernel("nccl_all_reduce", 110, 50, 2);
  build.Kernel("gemm", 160, 30, 3);
  return std::move(build).Build();
}

std::vector<KernelRow> Ranked(const TestRun& run, KernelsBy by) {
  return RankActivities(RankView(run.rank(), run.rules()), by);
}

TEST(Kernels, RankBySumOfTheirTime) {
  const TestRun run(ThreeKernels());
  const std::vector<KernelRow> rows = Ranked(run, KernelsBy::kName);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].key, "nccl_all_reduce");
  EXPECT_EQ(rows[1].key, "gemm");
  EXPECT_EQ(rows[1].category, "gemm");
  EXPECT_EQ(rows[1].group.n, 2);
  EXPECT_EQ(rows[1].group.sum_ns, 40);
  EXPECT_EQ(rows[1].group.min_ns, 10);
  EXPECT_EQ(rows[1].group.max_ns, 30);
}

TEST(Kernels, ActivitiesWithoutAnOpAreARow) {
  const TestRun run(ThreeKernels());
  const std::vector<KernelRow> rows = Ranked(run, KernelsBy::kOp);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].key, "[no op]");
  EXPECT_EQ(rows[0].group.sum_ns, 80);
  EXPECT_EQ(rows[1].key, "aten::mm");
}

TEST(Kernels, CopiesOfAnOpAreARowBesideItsKernels) {
  TraceBuilder build;
  const auto main = build.Thread(12, 1);
  build.Op(main, "aten::mm", 0, 20);
  build.Call(main, "cudaMemsetAsync", 2, 1);
  build.Call(main, "cudaLaunchKernel", 5, 2);
  build.Activity(trace::ActivityKind::kMemset, "Memset (Device)", 100, 1, 1);
  build.Kernel("gemm", 110, 10, 2);
  const TestRun run(std::move(build).Build());
  const std::vector<KernelRow> rows = Ranked(run, KernelsBy::kOp);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].key, "aten::mm");
  EXPECT_EQ(rows[0].group.min_ns, 10);
  EXPECT_EQ(rows[1].key, "aten::mm (copies)");
  EXPECT_EQ(rows[1].op, "aten::mm");
  EXPECT_EQ(rows[1].category, "copy");
}

TEST(Kernels, ActivitiesOutsideOfModulesAreARow) {
  const TestRun run(ThreeKernels());
  const std::vector<KernelRow> rows = Ranked(run, KernelsBy::kModule);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].key, "[unattributed]");
  EXPECT_EQ(rows[0].group.evidence_ns.back(), 90);  // unresolved
}

TEST(Kernels, CpuOnlyTracesCountOpsAndTheirSelfTime) {
  TraceBuilder build;
  const auto main = build.Thread(12, 1);
  // A owns 0-20 and 30-60 around B; a scope that opens at 40 cuts A's second part in two.
  build.Op(main, "A", 0, 60);
  build.Op(main, "B", 20, 10);
  build.Scope(main, "Module_0", 40, 5);
  build.Op(main, "A", 100, 7);
  const TestRun run(std::move(build).Build());
  const std::vector<KernelRow> rows = Ranked(run, KernelsBy::kOp);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].key, "A");
  EXPECT_EQ(rows[0].group.n, 2);
  EXPECT_EQ(rows[0].group.sum_ns, 57);
  EXPECT_EQ(rows[0].group.min_ns, 7);
  EXPECT_EQ(rows[0].group.max_ns, 50);
  EXPECT_EQ(rows[1].group.sum_ns, 10);
}

TEST(Kernels, SumsThatOverflowAreWithheld) {
  TraceBuilder build;
  build.Kernel("gemm", 0, std::numeric_limits<int64_t>::max() - 1, 1);
  build.Kernel("gemm", 0, std::numeric_limits<int64_t>::max() - 1, 2);
  const TestRun run(std::move(build).Build());
  base::Result<Output> output = ComputeKernels(run.input(), {});
  ASSERT_TRUE(output.ok());
  ASSERT_TRUE(output->ranks[0].abstained.has_value());
  EXPECT_EQ(output->ranks[0].abstained->code, "time_overflow");
  EXPECT_EQ(output->ranks[0].warnings[0].severity, table::Severity::kError);
}

TEST(Kernels, UnknownSortColumnIsAUsageError) {
  const TestRun run(ThreeKernels());
  KernelsOptions options;
  options.presentation.sort = "sun_ns";
  base::Result<Output> output = ComputeKernels(run.input(), options);
  ASSERT_FALSE(output.ok());
  EXPECT_EQ(output.error().code, base::ErrorCode::kUsage);
  EXPECT_EQ(output.error().message, "no column 'sun_ns'; did you mean 'sum_ns'?");
}

}  // namespace
}  // namespace layerscope::analysis

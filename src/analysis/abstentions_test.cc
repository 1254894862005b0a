#include "src/analysis/abstentions.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "src/analysis/kernels.h"
#include "src/analysis/modules.h"
#include "src/analysis/overhead.h"
#include "src/analysis/steps.h"
#include "src/analysis/summary.h"

#include "tests/support/test_run.h"
#include "tests/support/trace_builder.h"

namespace layerscope::analysis {
namespace {

using tests::TraceBuilder;

std::string CodeOf(const base::Result<Output>& output) {
  if (!output.ok() || !output->ranks.at(0).abstained) return {};
  return output->ranks[0].abstained->code;
}

void ExpectAllSay(const std::string& code, const TestRun& run) {
  EXPECT_EQ(CodeOf(ComputeModules(run.input(), {})), code);
  EXPECT_EQ(CodeOf(ComputeKernels(run.input(), {})), code);
  EXPECT_EQ(CodeOf(ComputeSteps(run.input(), {})), code);
  EXPECT_EQ(CodeOf(ComputeOverhead(run.input(), {})), code);
  EXPECT_EQ(CodeOf(ComputeSummary(run.input(), {})), code);
}

TEST(Abstentions, AFileWithoutWorkHasOneCodeInEveryVerbAndFormat) {
  ExpectAllSay("no_gpu_work", TestRun(TraceBuilder().Build()));
  TraceBuilder database;
  database.Nsys();
  ExpectAllSay("no_gpu_work", TestRun(std::move(database).Build()));
}

TEST(Abstentions, AFileWithoutStepsHasOneCodeInEveryFormat) {
  for (const bool is_database : {false, true}) {
    TraceBuilder build;
    if (is_database) build.Nsys();
    build.Call(build.Thread(12, 1), "cudaLaunchKernel", 1, 1);
    build.Kernel("gemm", 10, 5, 1);
    const TestRun run(std::move(build).Build());
    EXPECT_EQ(CodeOf(ComputeSteps(run.input(), {})), "no_steps");
    EXPECT_EQ(CodeOf(ComputeOverhead(run.input(), {})), "no_steps");
    // What is withheld is said once.
    EXPECT_TRUE(ComputeSteps(run.input(), {})->ranks[0].blocks.empty());
  }
}

TEST(Abstentions, ADatabaseWithoutATableOfStepsSaysWhichItIs) {
  for (const char* lost : {"lost_kernels", "lost_calls", "lost_names"}) {
    const std::string code = lost;
    TraceBuilder build;
    build.Nsys();
    const trace::ThreadId thread = build.Thread(12, 1);
    build.Annotation(thread, "step[DECODE bs=1]", 0, 100);
    if (code != "lost_calls") {
      build.Call(thread, code == "lost_names" ? "[unknown]" : "cudaLaunchKernel", 1, 1);
    }
    if (code != "lost_kernels") build.Kernel("gemm", 10, 5, 1);
    build.Activity(trace::ActivityKind::kMemcpy, "Memcpy", 20, 5, 1);
    const TestRun run(std::move(build).Build());
    EXPECT_EQ(CodeOf(ComputeOverhead(run.input(), {})), code);
    EXPECT_EQ(CodeOf(ComputeSteps(run.input(), {})), code == "lost_names" ? "" : code);
    EXPECT_EQ(CodeOf(ComputeKernels(run.input(), {})), "");
  }
}

TEST(Abstentions, OpsAloneAreWorkOfACpuAndNoneOfAGpu) {
  TraceBuilder build;
  build.Op(build.Thread(12, 1), "aten::mm", 10, 20);
  const TestRun run(std::move(build).Build());
  EXPECT_EQ(CodeOf(ComputeKernels(run.input(), {})), "");
  EXPECT_EQ(CodeOf(ComputeOverhead(run.input(), {})), "no_gpu_work");
}

}  // namespace
}  // namespace layerscope::analysis

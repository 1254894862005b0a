#include "src/analysis/idle_causes.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "src/analysis/idle_text.h"
#include "src/analysis/step_rows.h"

#include "tests/support/test_run.h"
#include "tests/support/trace_builder.h"

namespace layerscope::analysis {
namespace {

using tests::TraceBuilder;

constexpr int64_t kMs = 1'000'000;

/// Kernels of 1 ms at 0 and at 11 ms, launched by one thread: one gap [1, 11) ms.
struct GapTrace {
  TraceBuilder build;
  trace::ThreadId main = build.Thread(12, 1);

  GapTrace() {
    build.Call(main, "cudaLaunchKernel", 0, 1);
    build.Kernel("gemm", 0, kMs, 1);
    build.Kernel("gemm", 11 * kMs, kMs, 2);
  }
  /// TraceBuilder's calls have no length of their own.
  trace::Trace Build(int64_t call_ns = 0) && {
    build.Call(main, "cudaLaunchKernel", 11 * kMs, 2);
    trace::Trace trace = std::move(build).Build();
    for (int64_t& dur_ns : trace.calls.dur_ns) dur_ns = 10;
    if (call_ns > 0) trace.calls.dur_ns[1] = call_ns;
    return trace;
  }
};

struct Explained {
  IdleReport report;
  std::string verdict;
  std::string text;
};

Explained Explain(trace::Trace trace) {
  const TestRun run(std::move(trace));
  const RankView view(run.rank(), run.rules());
  const StepRows steps = BuildStepRows(view);
  Explained explained{ExplainIdle(view, steps.idle), {}, {}};
  int64_t sum_ns = 0;
  for (const IdleCause& cause : explained.report.causes) sum_ns += cause.ns;
  EXPECT_EQ(sum_ns, explained.report.idle_ns);
  explained.verdict = IdleVerdict(explained.report);
  explained.text = IdleText(view, explained.report);
  return explained;
}

TEST(ExplainIdle, AWaitingCallIsNamedWithItsOpAndStep) {
  GapTrace gap;
  gap.build.Annotation(gap.main, "step[DECODE bs=32]", 0, 12 * kMs);
  gap.build.Op(gap.main, "aten::to", kMs, 10 * kMs);
  gap.build.Op(gap.main, "aten::copy_", kMs + 1, 9 * kMs);
  gap.build.Call(gap.main, "hipMemcpyWithStream", kMs + 2, 9);
  const Explained found = Explain(std::move(gap).Build(9 * kMs));
  EXPECT_EQ(found.report.idle_ns, 10 * kMs);
  EXPECT_EQ(found.report.in_steps_ns, 10 * kMs);
  EXPECT_EQ(found.verdict, "wait");
  EXPECT_EQ(found.text,
            "10.0 ms in one gap: the host waits in hipMemcpyWithStream (aten::copy_), inside "
            "step[DECODE bs=32]");
}

TEST(ExplainIdle, WithoutAWaitTheInnermostLongOpIsNamed) {
  GapTrace gap;
  gap.build.Annotation(gap.main, "ProfilerStep#3", 0, 6 * kMs);
  gap.build.Op(gap.main, "enumerate(DataLoader)", kMs, 8 * kMs);
  gap.build.Op(gap.main, "aten::stack", 6 * kMs - 1, 10);  // holds the middle, but is short
  const Explained found = Explain(std::move(gap).Build());
  EXPECT_EQ(found.report.in_steps_ns, 5 * kMs);  // the step ends in the middle of the gap
  EXPECT_EQ(found.verdict, "host");
  EXPECT_EQ(found.text, "10.0 ms in one gap: the host is in enumerate(DataLoader)");
}

TEST(ExplainIdle, AThreadThatLaunchesNothingExplainsNothing) {
  GapTrace gap;
  gap.build.Op(gap.build.Thread(12, 2), "aten::unrelated", kMs - 5, 9 * kMs);
  EXPECT_EQ(Explain(std::move(gap).Build()).verdict, "pauses");
}

TEST(ExplainIdle, WithoutCallsAndOpsItIsAPauseOrASilentStep) {
  EXPECT_EQ(Explain(GapTrace().Build()).verdict, "pauses");
  GapTrace in_step;
  in_step.build.Annotation(in_step.main, "step[DECODE bs=1]", 0, 12 * kMs);
  EXPECT_EQ(Explain(std::move(in_step).Build()).verdict, "silent");
}

TEST(ExplainIdle, ShortGapsAndManyOpsAreLaunchBound) {
  GapTrace gap;
  for (int64_t i = 0; i < 20; ++i) {
    gap.build.Op(gap.main, "aten::view", kMs + i * kMs / 2, 10);
  }
  const Explained busy = Explain(std::move(gap).Build());
  EXPECT_EQ(busy.verdict, "launch_bound");

  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  for (int64_t i = 0; i < 3; ++i) {
    build.Call(main, "cudaLaunchKernel", i * 100'000 + 50'000, i + 1);
    build.Kernel("gemm", i * 100'000 + 60'000, 10'000, i + 1);
  }
  const Explained eager = Explain(std::move(build).Build());
  EXPECT_EQ(eager.report.idle_ns, 180'000);
  EXPECT_EQ(eager.verdict, "launch_bound");
  EXPECT_EQ(eager.text, "host- or launch-bound (2 calls in 2 gaps)");
}

TEST(ExplainIdle, AFrameAroundManyCallsIsNoCause) {
  GapTrace gap;
  gap.build.Annotation(gap.main, "## backward ##", 0, 12 * kMs);
  for (int64_t i = 0; i < 60; ++i) {
    gap.build.Call(gap.main, "cudaEventRecord", kMs + i * kMs / 6, 100 + i);
  }
  EXPECT_EQ(Explain(std::move(gap).Build()).verdict, "launch_bound");
}

TEST(ExplainIdle, OneCauseOfManyGapsIsSummed) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  for (int64_t i = 0; i < 4; ++i) {
    build.Call(main, "cudaLaunchKernel", i * 2 * kMs, i + 1);
    build.Kernel("gemm", i * 2 * kMs, kMs, i + 1);
    build.Op(main, "load", i * 2 * kMs + kMs, kMs);
  }
  const Explained found = Explain(std::move(build).Build());
  EXPECT_EQ(found.text, "3.00 ms in 3 gaps: the host is in load");
}

TEST(ExplainIdle, AFileWithoutHostEventsSaysSo) {
  TraceBuilder build;
  build.Kernel("gemm", 0, kMs, 0);
  build.Kernel("gemm", 9 * kMs, kMs, 0);
  EXPECT_EQ(Explain(std::move(build).Build()).verdict, "unknown");
}

}  // namespace
}  // namespace layerscope::analysis

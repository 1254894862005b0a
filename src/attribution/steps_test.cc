#include "src/attribution/steps.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "src/attribution/attribution.h"

#include "tests/support/trace_builder.h"

namespace layerscope::attribution {
namespace {

using tests::TraceBuilder;

/// Name, start, length.
using Rows = std::vector<std::tuple<std::string, int64_t, int64_t>>;

std::vector<Step> Steps(const trace::Trace& trace) {
  return BuildSteps(trace, ClassifyCallNames(trace).is_launch).steps;
}

Rows RowsOf(const trace::Trace& trace) {
  Rows rows;
  for (const Step& step : Steps(trace)) {
    rows.emplace_back(trace.strings[step.name], step.start_ns, step.dur_ns);
  }
  return rows;
}

/// The name of the step at a time on a thread, or "-".
std::string At(const trace::Trace& trace, trace::ThreadId thread, int64_t t_ns) {
  const std::vector<Step> steps = Steps(trace);
  const StepId step = StepLocator(trace, steps).Find(thread, t_ns);
  return step.valid() ? std::string(trace.strings[steps[step.index()].name]) : "-";
}

TEST(Steps, StandInOrderOfStartAndOnlyFromTheHost) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Annotation(main, "step[DECODE bs=2]", 100, 50);
  build.Annotation(main, "step[DECODE bs=1]", 0, 50);
  build.Annotation(main, "nccl:all_reduce", 10, 5);
  build.GpuAnnotation("step[DECODE bs=2]", 300, 50);
  EXPECT_EQ(RowsOf(build.trace()),
            (Rows{{"step[DECODE bs=1]", 0, 50}, {"step[DECODE bs=2]", 100, 50}}));
}

TEST(Steps, TwoFamiliesNestedOnOneThreadAreOneStep) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Annotation(
      main, "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk64sqsq32sqsk64)", 0, 100);
  build.Annotation(main, "step[DECODE bs=32]", 60, 30);
  build.Annotation(main, "ProfilerStep#5", 0, 200);
  const std::vector<Step> steps = Steps(build.trace());
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(build.trace().strings[steps[0].name], "step[DECODE bs=32]");
  EXPECT_EQ(steps[0].annotation, trace::AnnotationId(1));
  EXPECT_EQ(steps[0].family, StepFamily::kSglang);
  EXPECT_EQ(steps[0].start_ns, 60);
  EXPECT_EQ(steps[0].dur_ns, 30);
  EXPECT_EQ(steps[0].fields.requests, 32);
  EXPECT_EQ(steps[0].fields.sum_kv, 64);
  EXPECT_EQ(steps[0].fields.context_tokens, 0);
  EXPECT_EQ(steps[0].fields.number, 5);
  EXPECT_EQ(At(build.trace(), main, 30), "-") << "only the bounds of the inner one count";
}

TEST(Steps, ABenchStepHasThePhaseOfTheEngineStepInOrAroundIt) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Annotation(main, "bench_step::4::bs::8::past::64", 0, 100);
  build.Annotation(main, "execute_context_0(0)_generation_8(8)", 10, 80);
  build.Annotation(main, "[Executor] _forward_step 9: 1 ctx reqs, 64 ctx tks, 0 gen reqs", 200,
                   100);
  build.Annotation(main, "bench_step::5::bs::1::past::0", 210, 80);
  build.Annotation(main, "bench_step::6::bs::1::past::0", 400, 80);
  const std::vector<Step> steps = Steps(build.trace());
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].family, StepFamily::kVllm);
  EXPECT_EQ(steps[0].fields.bench_number, 4);
  EXPECT_EQ(steps[0].fields.past, 64);
  EXPECT_EQ(steps[0].fields.phase, Phase::kDecode);
  EXPECT_EQ(steps[1].family, StepFamily::kBench);
  EXPECT_EQ(steps[1].fields.phase, Phase::kPrefill);
  EXPECT_EQ(steps[1].fields.context_tokens, 64);
  EXPECT_EQ(steps[2].fields.phase, Phase::kUnknown);
}

TEST(Steps, SeveralInnerOnesAreStepsOfTheirOwnAndTheOuterIsNone) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Annotation(main, "execute_context_0(0)_generation_2(2)", 0, 100);
  build.Annotation(main, "step[DECODE bs=1]", 10, 20);
  build.Annotation(main, "step[DECODE bs=1]", 50, 20);
  const std::vector<Step> steps = Steps(build.trace());
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].start_ns, 10);
  EXPECT_EQ(steps[1].start_ns, 50);
  EXPECT_EQ(steps[0].fields.context_tokens, std::nullopt) << "nothing is merged";
}

TEST(Steps, NestedInOneFamilyTheLaunchBelongsToTheInnermost) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Annotation(main, "step[EXTEND bs=1 toks=8]", 0, 100);
  build.Annotation(main, "step[DECODE bs=1]", 10, 20);
  EXPECT_EQ(Steps(build.trace()).size(), 2U);
  EXPECT_EQ(At(build.trace(), main, 15), "step[DECODE bs=1]");
  EXPECT_EQ(At(build.trace(), main, 40), "step[EXTEND bs=1 toks=8]");
}

TEST(Steps, CrossingAnnotationsAreTwoSteps) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Annotation(main, "execute_context_0(0)_generation_2(2)", 0, 20);
  build.Annotation(main, "step[DECODE bs=2]", 10, 20);
  EXPECT_EQ(RowsOf(build.trace()),
            (Rows{{"execute_context_0(0)_generation_2(2)", 0, 20}, {"step[DECODE bs=2]", 10, 20}}));
  EXPECT_EQ(At(build.trace(), main, 15), "step[DECODE bs=2]");
}

TEST(Steps, AProfilerStepCountsWhereNoEngineStepLiesInside) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Annotation(main, "ProfilerStep#1", 0, 100);
  build.Annotation(main, "execute_context_0(0)_generation_2(2)", 10, 20);
  build.Annotation(main, "execute_context_0(0)_generation_3(3)", 50, 20);
  build.Annotation(main, "ProfilerStep#2", 100, 100);
  // Of another thread of the process, inside the third; of another process, beside the fourth.
  build.Annotation(main, "ProfilerStep#3", 200, 100);
  build.Annotation(build.Thread(1, 2), "step[DECODE bs=4]", 210, 20);
  build.Annotation(main, "ProfilerStep#4", 300, 100);
  build.Annotation(build.Thread(2, 1), "step[DECODE bs=5]", 310, 20);
  EXPECT_EQ(RowsOf(build.trace()), (Rows{{"execute_context_0(0)_generation_2(2)", 10, 20},
                                         {"execute_context_0(0)_generation_3(3)", 50, 20},
                                         {"ProfilerStep#2", 100, 100},
                                         {"step[DECODE bs=4]", 210, 20},
                                         {"ProfilerStep#4", 300, 100},
                                         {"step[DECODE bs=5]", 310, 20}}));
}

TEST(Steps, AProfilerStepInsideAnEngineStepAddsItsNumber) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Annotation(main, "step[DECODE bs=4]", 0, 100);
  build.Annotation(main, "ProfilerStep#3", 10, 50);
  const std::vector<Step> steps = Steps(build.trace());
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].dur_ns, 100);
  EXPECT_EQ(steps[0].fields.number, 3);
}

TEST(Steps, CapturesAreNoneNorAProfilerStepThatHoldsNothingElse) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Annotation(main, "ProfilerStep#1", 0, 100);
  build.Annotation(main, "capture_32_FULL", 10, 30);
  build.Call(main, "cudaLaunchKernel", 20, 1);
  build.Annotation(main, "ProfilerStep#2", 200, 100);
  build.Annotation(main, "capture_16_FULL", 210, 30);
  build.Call(main, "cudaLaunchKernel", 220, 2);
  build.Call(main, "cudaLaunchKernel", 270, 3);  // work that is no capture
  EXPECT_EQ(RowsOf(build.trace()), (Rows{{"ProfilerStep#2", 200, 100}}));
}

TEST(Steps, OtherThreadsOfTheProcessBelongToTheLaterStarted) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  const auto worker = build.Thread(1, 2);
  const auto helper = build.Thread(1, 3);
  build.Annotation(main, "step[DECODE bs=1]", 0, 100);
  build.Annotation(worker, "step[DECODE bs=2]", 50, 100);
  const trace::ThreadId other_process = build.Thread(2, 1);
  EXPECT_EQ(At(build.trace(), helper, 40), "step[DECODE bs=1]");
  EXPECT_EQ(At(build.trace(), helper, 60), "step[DECODE bs=2]");
  EXPECT_EQ(At(build.trace(), main, 60), "step[DECODE bs=1]")
      << "the own thread's step comes first";
  EXPECT_EQ(At(build.trace(), other_process, 60), "-");
}

TEST(Steps, EqualBoundsMakeTheLaterInTheFileTheInner) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Annotation(main, "execute_context_1(7)_generation_0(0)", 0, 100);
  build.Annotation(main, "step[EXTEND bs=1 toks=7]", 0, 100);
  EXPECT_EQ(RowsOf(build.trace()), (Rows{{"step[EXTEND bs=1 toks=7]", 0, 100}}));
}

TEST(Steps, NegativeLengthsHoldNothing) {
  TraceBuilder build;
  const auto main = build.Thread(1, 1);
  build.Annotation(main, "step[DECODE bs=1]", 10, -5);
  EXPECT_EQ(RowsOf(build.trace()), (Rows{{"step[DECODE bs=1]", 10, -5}}));
  EXPECT_EQ(At(build.trace(), main, 10), "-");
  EXPECT_EQ(At(build.trace(), main, 7), "-");
}

TEST(Steps, DroppedNumbersAreCounted) {
  TraceBuilder build;
  build.Annotation(build.Thread(1, 1), "step[DECODE bs=-2147483648]", 0, 10);
  const trace::Trace& trace = build.trace();
  EXPECT_EQ(BuildSteps(trace, ClassifyCallNames(trace).is_launch).n_out_of_range, 1);
}

}  // namespace
}  // namespace layerscope::attribution

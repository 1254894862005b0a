#include "src/analysis/selection.h"

#include <gtest/gtest.h>

#include "tests/support/test_run.h"
#include "tests/support/trace_builder.h"

namespace layerscope::analysis {
namespace {

using tests::TraceBuilder;
using Rows = std::vector<uint32_t>;

/// Two steps, one a phase; a module in the first; a copy and an all-reduce in the second; a kernel
/// outside of both.
trace::Trace TwoSteps() {
  TraceBuilder build;
  const auto main = build.Thread(12, 1);
  build.Annotation(main, "step[EXTEND bs=1 toks=100]", 0, 100);
  build.Scope(main, "Model_0", 10, 50);
  build.Scope(main, "Attention_3", 20, 10);
  build.Call(main, "cudaLaunchKernel", 25, 1);
  build.Call(main, "cudaLaunchKernel", 40, 2);
  build.Annotation(main, "step[DECODE bs=2]", 200, 100);
  build.Call(main, "cudaMemcpyAsync", 210, 3);
  build.Call(main, "cudaLaunchKernel", 220, 4);
  build.Call(main, "cudaLaunchKernel", 400, 5);
  build.Kernel("gemm", 30, 10, 1);
  build.Kernel("other", 50, 10, 2);
  build.Activity(trace::ActivityKind::kMemcpy, "Memcpy", 215, 10, 3);
  build.Kernel("nccl_all_reduce", 230, 10, 4);
  build.Kernel("late", 410, 10, 5);
  return std::move(build).Build();
}

Rows SelectedRows(const TestRun& run, const Selection& selection) {
  base::Result<std::vector<RankView>> views = Select(run.input(), selection);
  EXPECT_TRUE(views.ok());
  return views.ok() ? views->front().rows() : Rows();
}

base::Error FailureOf(const TestRun& run, const Selection& selection) {
  base::Result<std::vector<RankView>> views = Select(run.input(), selection);
  EXPECT_FALSE(views.ok());
  return views.ok() ? base::Error() : views.error();
}

TEST(Selection, EmptySelectsEverything) {
  const TestRun run(TwoSteps());
  EXPECT_EQ(SelectedRows(run, {}), (Rows{0, 1, 2, 3, 4}));
}

TEST(Selection, StepsChooseWhatTheyLaunched) {
  const TestRun run(TwoSteps());
  EXPECT_EQ(SelectedRows(run, {.steps = std::pair(1, 1)}), (Rows{2, 3}));
  EXPECT_EQ(SelectedRows(run, {.steps = std::pair(0, 7)}), (Rows{0, 1, 2, 3}));
  EXPECT_EQ(SelectedRows(run, {.phase = "prefill"}), (Rows{0, 1}));
}

TEST(Selection, ModulesByPathInstanceAndClassIncludeWhatIsBelow) {
  const TestRun run(TwoSteps());
  EXPECT_EQ(SelectedRows(run, {.module = "Model"}), (Rows{0, 1}));
  EXPECT_EQ(SelectedRows(run, {.module = "Attention_3"}), (Rows{0}));
  EXPECT_EQ(SelectedRows(run, {.module = "Model_0.Attention_3"}), (Rows{0}));
}

TEST(Selection, TimesAreHalfOpenOnTheStart) {
  const TestRun run(TwoSteps());
  EXPECT_EQ(SelectedRows(run, {.from_ns = 50, .to_ns = 230}), (Rows{1, 2}));
}

TEST(Selection, CommunicationIsLeftOutByCategory) {
  const TestRun run(TwoSteps());
  EXPECT_EQ(SelectedRows(run, {.without_communication = true}), (Rows{0, 1, 2, 4}));
}

TEST(Selection, ConditionsHoldAtOnce) {
  const TestRun run(TwoSteps());
  EXPECT_EQ(SelectedRows(run, {.pid = "12", .device = "0", .stream = "7", .phase = "decode"}),
            (Rows{2, 3}));
  EXPECT_EQ(SelectedRows(run, {.phase = "decode", .module = "Model"}), Rows{});
}

TEST(Selection, StepsWithoutASelectedActivityAreLeftOutOfRowSelections) {
  const TestRun run(TwoSteps());
  base::Result<std::vector<RankView>> views = Select(run.input(), {.module = "Model"});
  ASSERT_TRUE(views.ok());
  EXPECT_EQ(views->front().steps(), Rows{0});
}

TEST(Selection, WhatDoesNotExistIsNotFoundAndNamesWhatDoes) {
  const TestRun run(TwoSteps());
  const base::Error device = FailureOf(run, {.device = "3"});
  EXPECT_EQ(device.code, base::ErrorCode::kNotFound);
  EXPECT_EQ(device.message, "no device '3' in this input");
  EXPECT_EQ(device.hint, "there is: 0");
  const base::Error step = FailureOf(run, {.steps = std::pair(5, 5)});
  EXPECT_EQ(step.message, "no step '5' in this input");
  EXPECT_EQ(step.hint, "there are: 0 (step[EXTEND bs=1 toks=100]), 1 (step[DECODE bs=2])");
  EXPECT_EQ(FailureOf(run, {.phase = "decod"}).message,
            "no phase 'decod' in this input; did you mean 'decode'?");
  EXPECT_EQ(FailureOf(run, {.module = "Atention"}).message,
            "no module 'Atention' in this input; did you mean 'Attention'?");
  EXPECT_EQ(FailureOf(run, {.pid = "99"}).code, base::ErrorCode::kNotFound);
  EXPECT_EQ(FailureOf(run, {.rank = 1}).code, base::ErrorCode::kNotFound);
}

TEST(Selection, RangesOfModulesAndTheRestCanBeSelected) {
  const TestRun run(TwoSteps());
  EXPECT_EQ(SelectedRows(run, {.module = "Attention_2..3"}), (Rows{0}));
  EXPECT_EQ(SelectedRows(run, {.module = "[unattributed]"}), (Rows{2, 3, 4}));
  EXPECT_EQ(FailureOf(run, {.module = "Attention_4..9"}).code, base::ErrorCode::kNotFound);
  EXPECT_EQ(FailureOf(run, {.module = "Attention_0, …, 9"}).message,
            "'Attention_0, …, 9' stands for modules without a fixed step between their numbers");
}

TEST(Selection, ProfilerStepsGoByTheirNumberWhereNoIndexIsMeant) {
  TraceBuilder build;
  const auto main = build.Thread(12, 1);
  build.Annotation(main, "ProfilerStep#1009", 0, 100);
  build.Annotation(main, "ProfilerStep#1010", 200, 100);
  build.Call(main, "cudaLaunchKernel", 10, 1);
  build.Call(main, "cudaLaunchKernel", 210, 2);
  build.Kernel("a", 30, 10, 1);
  build.Kernel("b", 230, 10, 2);
  const TestRun run(std::move(build).Build());
  EXPECT_EQ(SelectedRows(run, {.steps = std::pair(1, 1)}), Rows{1});
  EXPECT_EQ(SelectedRows(run, {.steps = std::pair(1009, 1009)}), Rows{0});
  EXPECT_EQ(FailureOf(run, {.steps = std::pair(1008, 1008)}).hint,
            "there are: 0 (ProfilerStep#1009), 1 (ProfilerStep#1010)");
}

TEST(Selection, TimesWithoutAnActivityAreRefused) {
  const TestRun run(TwoSteps());
  EXPECT_EQ(FailureOf(run, {.from_ns = 50, .to_ns = 50}).code, base::ErrorCode::kUsage);
  const base::Error late = FailureOf(run, {.from_ns = 411});
  EXPECT_EQ(late.code, base::ErrorCode::kNotFound);
  EXPECT_EQ(late.hint, "the activities of test.json start from 30 ns to 410 ns");
}

TEST(Selection, TextSaysWhatItIsAndHowMuchOfTheFile) {
  const TestRun run(TwoSteps());
  const Selection selection{.phase = "decode", .without_communication = true};
  base::Result<std::vector<RankView>> views = Select(run.input(), selection);
  ASSERT_TRUE(views.ok());
  // The copy of the second step; its all-reduce of 10 ns is left out.
  EXPECT_EQ(SelectionText(views->front(), selection),
            "selection: phase decode, without communication (10 ns left out); 10 ns of 50 ns total "
            "(20.0 %)");
}

TEST(Selection, RanksThatLackTheSelectionDropOut) {
  const TestRun first(TwoSteps(), 0);
  TraceBuilder build;
  build.Kernel("gemm", 0, 5, 1);
  const TestRun second(std::move(build).Build(), 1);
  const std::vector<RankInput> ranks = {first.rank(), second.rank()};
  base::Result<std::vector<RankView>> views = Select({ranks, &first.rules()}, {.phase = "decode"});
  ASSERT_TRUE(views.ok());
  ASSERT_EQ(views->size(), 1U);
  EXPECT_EQ(views->front().input().rank, 0);
}

}  // namespace
}  // namespace layerscope::analysis

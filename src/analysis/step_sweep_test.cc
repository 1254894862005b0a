#include "src/analysis/step_sweep.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace layerscope::analysis {
namespace {

StepSample Sample(int64_t index, int64_t batch, std::string key, int64_t sum_ns) {
  StepSample sample;
  sample.index = index;
  sample.batch = batch;
  sample.past = 64;
  sample.phase = "decode";
  sample.key = std::move(key);
  sample.sum_ns = sum_ns;
  sample.n_kernels = 1;
  return sample;
}

StepSample Step(int64_t index, int64_t batch, int64_t host_ns, int64_t busy_ns) {
  StepSample sample = Sample(index, batch, "", busy_ns);
  sample.host_wall_ns = host_ns;
  sample.busy_ns = busy_ns;
  return sample;
}

int64_t Value(const table::Table& table, const char* column, size_t row) {
  return std::get<int64_t>(table.Find(column)->cell(row));
}
std::string_view Text(const table::Table& table, const char* column, size_t row) {
  return std::get<std::string_view>(table.Find(column)->cell(row));
}

// Step 0 of two recordings: one point of two steps, 60 + 50 and 7 + 9 over the ranks.
TEST(StepSweep, StepsOfTwoRecordingsAreTwoStepsOfAPoint) {
  std::vector<StepSample> steps = {Step(0, 8, 100, 60), Step(0, 8, 90, 50), Step(0, 8, 80, 7),
                                   Step(0, 8, 70, 9)};
  for (size_t i = 0; i < steps.size(); ++i) {
    steps[i].place.input = i;
    steps[i].place.recording = i < 2 ? "a" : "b";
  }
  const std::vector<StepSample> reduced = ReduceStepSamples(steps, RankReduce::kSum);
  ASSERT_EQ(reduced.size(), 2U);
  const table::Table sweep = SweepTable(reduced, nullptr);
  ASSERT_EQ(sweep.n_rows, 1U);
  EXPECT_EQ(Value(sweep, "n_steps", 0), 2);
  EXPECT_EQ(Value(sweep, "sum_ns", 0), 126);
  EXPECT_EQ(Value(sweep, "median_sum_ns", 0), 16);
}

// Three steps of batch 8, host 100, 120, 170 and busy 60, 70, 110; one of batch 1; one of none.
std::vector<StepSample> Steps() {
  std::vector<StepSample> steps = {Step(0, 8, 100, 60), Step(1, 8, 120, 70), Step(2, 1, 50, 40),
                                   Step(3, 8, 170, 110), Step(4, 1, 9, 9)};
  steps[4].batch.reset();
  return steps;
}

TEST(SweepTable, HasARowForEachBatchAndPast) {
  const table::Table sweep = SweepTable(Steps(), nullptr);
  ASSERT_EQ(sweep.n_rows, 2U);
  EXPECT_EQ(Value(sweep, "batch", 0), 1);
  EXPECT_EQ(Value(sweep, "batch", 1), 8);
  EXPECT_EQ(Value(sweep, "past", 1), 64);
  EXPECT_EQ(Value(sweep, "n_steps", 1), 3);
  EXPECT_EQ(Value(sweep, "sum_ns", 1), 240);
  EXPECT_EQ(Value(sweep, "mean_sum_ns", 1), 80);
  EXPECT_EQ(Value(sweep, "median_sum_ns", 1), 70);
  EXPECT_EQ(Value(sweep, "mean_host_wall_ns", 1), 130);
  EXPECT_EQ(Value(sweep, "mean_busy_ns", 1), 80);
  EXPECT_EQ(Value(sweep, "mean_gap_ns", 1), 50);   // (390 - 240) / 3
  EXPECT_EQ(Value(sweep, "gap_ppm", 1), 384'615);  // 150 / 390
}

// A marker says no phase, and the eager step and the two that replay a graph are of one batch.
TEST(SweepTable, StepsOfAnotherLaunchModeAreNotAlike) {
  std::vector<StepSample> steps = {Step(0, 8, 100, 60), Step(1, 8, 20, 10), Step(2, 8, 20, 10)};
  for (StepSample& step : steps) {
    step.phase.clear();
    step.mode = step.index == 0 ? LaunchMode::kEager : LaunchMode::kGraph;
  }
  const table::Table sweep = SweepTable(steps, nullptr);
  ASSERT_EQ(sweep.n_rows, 2U);
  EXPECT_EQ(Text(sweep, "launch_mode", 0), "eager");
  EXPECT_EQ(Value(sweep, "mean_busy_ns", 0), 60);
  EXPECT_EQ(Text(sweep, "launch_mode", 1), "graph");
  EXPECT_EQ(Value(sweep, "n_steps", 1), 2);
  EXPECT_EQ(sweep.Find("launch_mode")->spec.audience, table::Audience::kAll);
  EXPECT_EQ(SweepTable(Steps(), nullptr).Find("launch_mode")->spec.audience,
            table::Audience::kMachines);
}

TEST(SweepTable, OfModulesCountsAStepWithoutOneAsZero) {
  const std::vector<StepSample> modules = {Sample(0, 8, "a", 10), Sample(0, 8, "b", 50),
                                           Sample(1, 8, "b", 70), Sample(3, 8, "a", 20),
                                           Sample(3, 8, "b", 90), Sample(2, 1, "a", 40)};
  const table::Table sweep = SweepTable(Steps(), &modules);
  ASSERT_EQ(sweep.n_rows, 3U);
  EXPECT_EQ(Text(sweep, "key", 1), "b");
  EXPECT_EQ(Value(sweep, "mean_sum_ns", 1), 70);
  EXPECT_EQ(Text(sweep, "key", 2), "a");
  EXPECT_EQ(Value(sweep, "n_steps", 2), 3);
  EXPECT_EQ(Value(sweep, "mean_sum_ns", 2), 10);
  EXPECT_EQ(Value(sweep, "median_sum_ns", 2), 10);  // of 10, 20 and 0
  EXPECT_EQ(Value(sweep, "mean_host_wall_ns", 2), 130);
  EXPECT_EQ(Value(sweep, "n_kernels", 2), 2);
}

StepSample OfInput(size_t input, StepSample sample) {
  sample.place.input = input;
  return sample;
}

TEST(ReduceModuleSamples, JoinsModulesOfTheSameStepOverRanks) {
  const std::vector<StepSample> modules = {Sample(0, 8, "a", 10), Sample(0, 8, "b", 5),
                                           Sample(1, 8, "a", 7), OfInput(1, Sample(0, 8, "a", 31))};
  const std::vector<StepSample> whole = {Step(0, 8, 90, 40), OfInput(1, Step(0, 8, 92, 50)),
                                         Step(1, 8, 50, 7)};
  const auto reduce = [&](RankReduce how) {
    return ReduceModuleSamples(modules, ReduceStepSamples(whole, how), how);
  };
  const std::vector<StepSample> sum = reduce(RankReduce::kSum);
  ASSERT_EQ(sum.size(), 3U);
  EXPECT_EQ(sum[0].key, "a");
  EXPECT_EQ(sum[0].n_ranks, 2);
  EXPECT_EQ(sum[0].sum_ns, 41);
  EXPECT_EQ(sum[0].n_kernels, 2);
  EXPECT_EQ(reduce(RankReduce::kMax)[0].sum_ns, 31);
  EXPECT_EQ(reduce(RankReduce::kMean)[0].sum_ns, 20);  // 20.5 half to even
  EXPECT_EQ(sum[1].key, "b");
  EXPECT_EQ(sum[1].n_ranks, 1);
  EXPECT_EQ(sum[1].sum_ns, 5);
  EXPECT_EQ(reduce(RankReduce::kMean)[1].sum_ns, 2);  // 5 over two ranks, 2.5 half to even
  EXPECT_EQ(sum[2].index, 1);
  const table::Table rows = ReducedModules(sum);
  EXPECT_EQ(Value(rows, "n_ranks", 0), 2);
  EXPECT_EQ(Value(rows, "step", 2), 1);
}

// Data parallel ranks run batches of their own: a module that only the second has still belongs to
// the step, whose batch is the first rank's.
TEST(SweepTable, AModuleOfOneRankStandsAtTheBatchOfItsReducedStep) {
  const std::vector<StepSample> whole = {Step(0, 8, 100, 60), OfInput(1, Step(0, 16, 120, 70))};
  const std::vector<StepSample> modules = {Sample(0, 8, "a", 60),
                                           OfInput(1, Sample(0, 16, "expert", 70))};
  const std::vector<StepSample> steps = ReduceStepSamples(whole, RankReduce::kSum);
  const std::vector<StepSample> reduced = ReduceModuleSamples(modules, steps, RankReduce::kSum);
  const table::Table sweep = SweepTable(steps, &reduced);
  ASSERT_EQ(sweep.n_rows, 2U);
  EXPECT_EQ(Text(sweep, "key", 0), "expert");
  EXPECT_EQ(Value(sweep, "batch", 0), 8);
  EXPECT_EQ(Value(sweep, "n_steps", 0), 1);
  EXPECT_EQ(Value(sweep, "mean_sum_ns", 0) + Value(sweep, "mean_sum_ns", 1), 130);
}

TEST(ReduceStepSamples, ARankWithTwoDevicesIsOneRankWithOneHostWall) {
  const std::vector<StepSample> sum =
      ReduceStepSamples({Step(0, 8, 100, 60), Step(0, 8, 100, 30)}, RankReduce::kSum);
  ASSERT_EQ(sum.size(), 1U);
  EXPECT_EQ(sum[0].n_ranks, 1);
  EXPECT_EQ(sum[0].host_wall_ns, 100);
  EXPECT_EQ(sum[0].busy_ns, 90);
}

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

bool IsNull(const table::Table& table, const char* column, size_t row) {
  return std::holds_alternative<table::Null>(table.Find(column)->cell(row));
}

// Each file's own sums fit (RankView::times_fit); those over files need not.
TEST(ReduceStepSamples, ASumOverRanksThatDoesNotFitIsUnknownAndTheLargestIsKnown) {
  const std::vector<StepSample> whole = {Step(0, 8, 100, kMax - 5), OfInput(1, Step(0, 8, 90, 6))};
  const std::vector<StepSample> sum = ReduceStepSamples(whole, RankReduce::kSum);
  EXPECT_EQ(sum[0].busy_ns, std::nullopt);
  EXPECT_EQ(sum[0].host_wall_ns, 190);
  EXPECT_EQ(ReduceStepSamples(whole, RankReduce::kMax)[0].busy_ns, kMax - 5);
  const table::Table sweep = SweepTable(sum, nullptr);
  ASSERT_EQ(sweep.n_rows, 1U);
  for (const char* column :
       {"sum_ns", "mean_busy_ns", "median_busy_ns", "mean_gap_ns", "gap_ppm"}) {
    EXPECT_TRUE(IsNull(sweep, column, 0)) << column;
  }
  EXPECT_EQ(Value(sweep, "mean_host_wall_ns", 0), 190);
}

TEST(SweepTable, ASumOverStepsThatDoesNotFitIsUnknownAndTheMedianIsKnown) {
  const std::vector<StepSample> steps = {Step(0, 8, 100, kMax - 5), Step(1, 8, 90, 6)};
  const table::Table sweep = SweepTable(steps, nullptr);
  EXPECT_TRUE(IsNull(sweep, "sum_ns", 0));
  EXPECT_TRUE(IsNull(sweep, "mean_sum_ns", 0));
  EXPECT_EQ(Value(sweep, "median_sum_ns", 0), 6);
}

}  // namespace
}  // namespace layerscope::analysis

#include "src/analysis/step_reduce.h"

#include <gtest/gtest.h>

namespace layerscope::analysis {
namespace {

StepRow Row(int64_t index, int64_t last_ns, int64_t busy_ns, size_t input = 0) {
  StepRow row;
  row.index = index;
  row.place.input = input;
  row.has_activities = busy_ns > 0;
  row.last_ns = last_ns;
  row.busy_ns = busy_ns;
  return row;
}

int64_t Value(const table::Table& table, const char* column, size_t row) {
  return std::get<int64_t>(table.Find(column)->cell(row));
}

TEST(ReduceSteps, JoinsTheSameStepOfAllRanks) {
  const std::vector<StepRow> rows = {Row(0, 100, 60), Row(1, 50, 50), Row(0, 200, 61, 1)};
  const table::Table sum = ReduceSteps(rows, RankReduce::kSum);
  ASSERT_EQ(sum.n_rows, 2U);
  EXPECT_EQ(Value(sum, "n_ranks", 0), 2);
  EXPECT_EQ(Value(sum, "wall_ns", 0), 300);
  EXPECT_EQ(Value(ReduceSteps(rows, RankReduce::kMax), "wall_ns", 0), 200);
  EXPECT_EQ(Value(ReduceSteps(rows, RankReduce::kMean), "busy_ns", 0), 60);  // 60.5 half to even
}

TEST(ReduceSteps, ARankWhoseStepLaunchedNothingHasNoWall) {
  const table::Table mean = ReduceSteps({Row(0, 100, 60), Row(0, 0, 0, 1)}, RankReduce::kMean);
  EXPECT_EQ(Value(mean, "wall_ns", 0), 100);
  EXPECT_EQ(Value(mean, "busy_ns", 0), 30);
}

// One rank on two devices: 60 and 61 busy in windows of 100 and 200.
TEST(ReduceSteps, ARankWithTwoDevicesIsOneRank) {
  const table::Table mean = ReduceSteps({Row(0, 100, 60), Row(0, 200, 61)}, RankReduce::kMean);
  EXPECT_EQ(Value(mean, "n_ranks", 0), 1);
  EXPECT_EQ(Value(mean, "wall_ns", 0), 200);
  EXPECT_EQ(Value(mean, "busy_ns", 0), 121);
}

// Step 0 of two recordings are two steps; of each recording both ranks are one.
TEST(ReduceSteps, KeepsRecordingsApart) {
  std::vector<StepRow> rows = {Row(0, 100, 60), Row(0, 100, 50, 1), Row(0, 100, 7, 2),
                               Row(0, 100, 9, 3)};
  for (size_t i = 0; i < rows.size(); ++i) rows[i].place.recording = i < 2 ? "a" : "b";
  const table::Table sum = ReduceSteps(rows, RankReduce::kSum);
  ASSERT_EQ(sum.n_rows, 2U);
  EXPECT_EQ(Value(sum, "busy_ns", 0), 110);
  EXPECT_EQ(Value(sum, "busy_ns", 1), 16);
  EXPECT_EQ(std::get<std::string_view>(sum.Find("recording")->cell(1)), "b");
  EXPECT_EQ(ReduceSteps({Row(0, 100, 60)}, RankReduce::kSum).Find("recording"), nullptr);
}

}  // namespace
}  // namespace layerscope::analysis

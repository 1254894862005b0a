#include "src/analysis/overhead_reduce.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace layerscope::analysis {
namespace {

OverheadRow Row(int64_t index, int64_t compute_ns, int64_t launch_ns) {
  OverheadRow row;
  row.index = index;
  row.phase = attribution::Phase::kDecode;
  row.lines[OverheadLine::kCompute] = compute_ns;
  row.lines[OverheadLine::kLaunchGap] = launch_ns;
  row.wall_ns = compute_ns + launch_ns;
  row.host_wall_ns = 100;
  row.busy_ns = compute_ns;
  return row;
}

int64_t Value(const table::Table& table, const char* column, size_t row) {
  return std::get<int64_t>(table.Find(column)->cell(row));
}

int64_t Line(const table::Table& table, const std::string& line, size_t row) {
  const table::Cell cell = table.Find("lines")->cell(row);
  for (const auto& [name, ns] : std::get<table::CellMap>(cell)) {
    if (name == line) return ns;
  }
  return -1;
}

TEST(ReduceOverhead, JoinsTheSameStepOfAllRanks) {
  const std::vector<OverheadRow> rows = {Row(0, 10, 5), Row(1, 7, 0), Row(0, 11, 2)};
  const table::Table sum = ReduceOverhead(rows, RankReduce::kSum);
  ASSERT_EQ(sum.n_rows, 2U);
  EXPECT_EQ(Value(sum, "n_ranks", 0), 2);
  EXPECT_EQ(Value(sum, "wall_ns", 0), 28);
  EXPECT_EQ(Line(sum, "compute", 0), 21);
  EXPECT_EQ(Line(sum, "launch_gap", 0), 7);
  EXPECT_EQ(Value(sum, "gap_ns", 0), 200 - 21);
  const table::Table most = ReduceOverhead(rows, RankReduce::kMax);
  EXPECT_EQ(Value(most, "wall_ns", 0), 15);
  EXPECT_EQ(Line(most, "compute", 0), 11);  // of another rank than the longest wall
  const table::Table mean = ReduceOverhead(rows, RankReduce::kMean);
  EXPECT_EQ(Value(mean, "busy_ns", 0), 10);  // 10.5 half to even
  EXPECT_EQ(Value(mean, "wall_ns", 1), 7);
}

// People lose the smallest lines first, into `rest`; a line without time is no column at all.
TEST(ReduceOverhead, LinesGiveWayByTheirTime) {
  const table::Table sum = ReduceOverhead({Row(0, 1000, 5)}, RankReduce::kSum);
  const table::Column* const compute = sum.Find("compute_ns");
  const table::Column* const launch = sum.Find("launch_gap_ns");
  EXPECT_LT(compute->spec.priority, launch->spec.priority);
  EXPECT_TRUE(compute->spec.part && launch->spec.part);
  EXPECT_TRUE(std::holds_alternative<table::Null>(sum.Find("comm_wait_ns")->cell(0)));
}

TEST(ReduceOverhead, WhatDoesNotFitIsUnknown) {
  const int64_t most = std::numeric_limits<int64_t>::max() - 1;
  const table::Table sum = ReduceOverhead({Row(0, most, 0), Row(0, most, 0)}, RankReduce::kSum);
  EXPECT_TRUE(std::holds_alternative<table::Null>(sum.Find("wall_ns")->cell(0)));
  EXPECT_TRUE(std::holds_alternative<table::Null>(sum.Find("lines")->cell(0)));
}

TEST(ReduceOverhead, MediansAreThoseOfTheStepsOfAllRanks) {
  const table::Object reduced =
      ReducedOverhead({Row(0, 10, 0), Row(0, 30, 0), Row(1, 20, 0)}, std::nullopt);
  ASSERT_EQ(reduced.size(), 1U);
  EXPECT_EQ(reduced[0].first, "median");
  const auto& table = *std::get<std::shared_ptr<table::Table>>(reduced[0].second.variant());
  EXPECT_EQ(Value(table, "n_steps", 0), 3);
  EXPECT_EQ(Value(table, "wall_ns", 0), 20);
}

}  // namespace
}  // namespace layerscope::analysis

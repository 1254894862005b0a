#include "src/attribution/innermost_index.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <tuple>
#include <vector>

#include "src/trace/ids.h"

namespace layerscope::attribution {
namespace {

/// Rows of one lane, and the innermost one by its definition: every row is looked at.
struct Lane {
  std::vector<int64_t> start_ns;
  std::vector<int64_t> dur_ns;

  void Add(int64_t start, int64_t dur) {
    start_ns.push_back(start);
    dur_ns.push_back(dur);
  }
  Intervals intervals() const { return {start_ns, dur_ns}; }
  LaneOrder order() const {
    const std::vector<trace::ThreadId> lanes(start_ns.size(), trace::ThreadId(0));
    return LaneOrder::Build(std::span<const trace::ThreadId>(lanes), 1, intervals());
  }
  InnermostIndex index() const { return InnermostIndex(order(), intervals()); }
  uint32_t InnermostByDefinition(int64_t t) const {
    uint32_t best = kNoRow;
    const auto key = [&](uint32_t row) {
      return std::tuple(start_ns[row], -(start_ns[row] + dur_ns[row]), row);
    };
    for (uint32_t row = 0; row < start_ns.size(); ++row) {
      const bool contains = start_ns[row] <= t && t < start_ns[row] + dur_ns[row];
      if (contains && (best == kNoRow || key(row) > key(best))) best = row;
    }
    return best;
  }
};

TEST(InnermostIndex, AnEmptyIndexFindsNothing) {
  InnermostIndex index;
  EXPECT_EQ(index.Find(0, 0), kNoRow);
}

TEST(InnermostIndex, IntervalsAreHalfOpen) {
  Lane lane;
  lane.Add(10, 5);
  InnermostIndex index = lane.index();
  EXPECT_EQ(index.Find(0, 9), kNoRow);
  EXPECT_EQ(index.Find(0, 10), 0U);
  EXPECT_EQ(index.Find(0, 14), 0U);
  EXPECT_EQ(index.Find(0, 15), kNoRow);
}

TEST(InnermostIndex, OfEqualStartsTheShortestThenTheLastWins) {
  Lane lane;
  lane.Add(0, 5);
  lane.Add(0, 10);
  lane.Add(0, 5);
  InnermostIndex index = lane.index();
  EXPECT_EQ(index.Find(0, 0), 2U);
  EXPECT_EQ(index.Find(0, 5), 1U);
}

TEST(InnermostIndex, TheLaterStartedOfCrossingIntervalsWins) {
  Lane lane;
  lane.Add(0, 10);
  lane.Add(5, 10);
  InnermostIndex index = lane.index();
  EXPECT_EQ(index.Find(0, 4), 0U);
  EXPECT_EQ(index.Find(0, 9), 1U);
  EXPECT_EQ(index.Find(0, 14), 1U);
}

TEST(InnermostIndex, WithoutLengthNothingIsContained) {
  Lane lane;
  lane.Add(0, 10);
  lane.Add(5, 0);
  lane.Add(6, -3);
  InnermostIndex index = lane.index();
  EXPECT_EQ(index.Find(0, 5), 0U);
  EXPECT_EQ(index.Find(0, 6), 0U);
}

TEST(InnermostIndex, LanesAreApart) {
  const std::vector<int64_t> start = {0, 0};
  const std::vector<int64_t> dur = {10, 20};
  const std::vector<trace::ThreadId> lanes = {trace::ThreadId(2), trace::ThreadId(0)};
  const Intervals intervals{start, dur};
  InnermostIndex index(LaneOrder::Build(std::span<const trace::ThreadId>(lanes), 3, intervals),
                       intervals);
  EXPECT_EQ(index.Find(2, 5), 0U);
  EXPECT_EQ(index.Find(1, 5), kNoRow);
  EXPECT_EQ(index.Find(0, 15), 1U);
}

TEST(InnermostIndex, TimesAtTheEndsOfTheRangeDoNotOverflow) {
  Lane lane;
  lane.Add(std::numeric_limits<int64_t>::max() - 5, 100);
  lane.Add(std::numeric_limits<int64_t>::min(), 100);
  InnermostIndex index = lane.index();
  EXPECT_EQ(index.Find(0, std::numeric_limits<int64_t>::max() - 1), 0U);
  EXPECT_EQ(index.Find(0, std::numeric_limits<int64_t>::min()), 1U);
}

TEST(InnermostIndex, AgreesWithTheDefinitionOnRandomIntervals) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    Lane lane;
    const int n = static_cast<int>(random() % 25);
    for (int i = 0; i < n; ++i) {
      lane.Add(static_cast<int64_t>(random() % 40), static_cast<int64_t>(random() % 30) - 3);
    }
    InnermostIndex index = lane.index();
    for (int64_t t = -2; t < 80; ++t) EXPECT_EQ(index.Find(0, t), lane.InnermostByDefinition(t));
    for (int question = 0; question < 50; ++question) {
      const auto t = static_cast<int64_t>(random() % 80);
      EXPECT_EQ(index.Find(0, t), lane.InnermostByDefinition(t));
    }
  }
}

TEST(SweepNested, NamesTheParentOfEveryRowAndCutsNoIntervalTwice) {
  Lane lane;
  lane.Add(0, 100);
  lane.Add(10, 20);
  lane.Add(15, 0);
  lane.Add(40, 10);
  std::vector<std::pair<uint32_t, uint32_t>> opened;
  std::vector<std::tuple<uint32_t, int64_t, int64_t>> intervals;
  std::vector<uint32_t> stack;
  SweepNested(
      lane.order().rows(0), lane.intervals(), stack,
      [&](uint32_t row, uint32_t parent) { opened.emplace_back(row, parent); },
      [&](uint32_t row, int64_t from, int64_t to) { intervals.emplace_back(row, from, to); });
  EXPECT_EQ(opened,
            (std::vector<std::pair<uint32_t, uint32_t>>{{0, kNoRow}, {1, 0}, {2, 1}, {3, 0}}));
  EXPECT_EQ(intervals, (std::vector<std::tuple<uint32_t, int64_t, int64_t>>{
                           {0, 0, 10}, {1, 10, 30}, {0, 30, 40}, {3, 40, 50}, {0, 50, 100}}));
}

}  // namespace
}  // namespace layerscope::attribution

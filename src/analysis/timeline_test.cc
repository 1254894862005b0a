#include "src/analysis/timeline.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "src/analysis/timeline_slices.h"

#include "tests/support/layered_run.h"
#include "tests/support/test_run.h"
#include "tests/support/trace_builder.h"

namespace layerscope::analysis {
namespace {

using Slice = std::tuple<int64_t, int64_t, int64_t, int64_t, uint32_t>;

std::vector<Slice> Draw(std::vector<TimelineMark> marks, const TimelineRange& range) {
  std::vector<Slice> slices;
  for (const TimelineSlice& slice : DrawTimeline(std::move(marks), 1, range).slices) {
    slices.emplace_back(slice.start_ns, slice.end_ns, slice.n, slice.busy_ns, slice.source);
  }
  return slices;
}

TEST(TimelineSlices, JoinsWhatIsShorterThanABinAndStartsInTheSameOne) {
  const std::vector<Slice> slices = Draw(
      {{8, 9, 0, 2}, {1, 3, 0, 0}, {4, 6, 0, 1}, {9, 14, 0, 3}, {14, 15, 0, 4}, {20, 30, 0, 5}},
      {0, 100, 10});
  // Bin 0: 2 + 2 + 1 + 5 busy, the longest is the last; 14 starts in bin 1; 10 ns are a whole bin.
  EXPECT_EQ(slices, (std::vector<Slice>{{1, 14, 4, 10, 3}, {14, 15, 1, 1, 4}, {20, 30, 1, 10, 5}}));
}

TEST(TimelineSlices, OverlapsCountOnceInBusyAndOfEquallyLongOnesTheFirstStandsForAll) {
  EXPECT_EQ(Draw({{0, 5, 0, 0}, {2, 7, 0, 1}, {3, 3, 0, 2}}, {0, 100, 10}),
            (std::vector<Slice>{{0, 7, 3, 7, 0}}));
}

TEST(TimelineSlices, ShortAndLongOnesOfABinStayApartByStart) {
  EXPECT_EQ(Draw({{0, 50, 0, 0}, {1, 2, 0, 1}, {1, 60, 0, 2}, {3, 4, 0, 3}}, {0, 100, 10}),
            (std::vector<Slice>{{0, 60, 2, 60, 2}, {1, 4, 2, 2, 1}}));
}

TEST(TimelineSlices, ALaneHasAtMostTwoSlicesABin) {
  std::vector<TimelineMark> marks;
  for (uint32_t i = 0; i < 1000; ++i) {
    marks.push_back({i % 100, 100, 0, i});
    marks.push_back({i % 100, i % 100 + 1, 0, i});
  }
  const TimelineSlices drawn = DrawTimeline(std::move(marks), 1, {0, 100, 10});
  EXPECT_LE(drawn.slices.size(), 20U);
  EXPECT_EQ(drawn.lanes[0].n, 2000);
  EXPECT_EQ(drawn.lanes[0].busy_ns, 100);
}

TEST(TimelineSlices, APartOfTheStripHoldsWhatIsBusyInIt) {
  const TimelineSlices drawn = DrawTimeline({{10, 35, 0, 0}, {30, 40, 0, 1}}, 1, {0, 400, 1});
  EXPECT_EQ(drawn.lanes[0].cell_busy_ns[0], 0);
  EXPECT_EQ(drawn.lanes[0].cell_busy_ns[1], 10);
  EXPECT_EQ(drawn.lanes[0].cell_busy_ns[3], 10);
  EXPECT_EQ(drawn.lanes[0].cell_busy_ns[4], 0);
}

const table::Table& TableOf(const table::RankResult& result, std::string_view key) {
  for (const auto& [name, value] : result.data) {
    if (name == key) return *std::get<std::shared_ptr<table::Table>>(value.variant());
  }
  throw std::out_of_range(std::string(key));
}

int64_t IntOf(const table::Table& table, std::string_view column, size_t row) {
  return std::get<int64_t>(table.Find(column)->cell(row));
}
std::string TextOf(const table::Table& table, std::string_view column, size_t row) {
  return std::string(std::get<std::string_view>(table.Find(column)->cell(row)));
}

/// Slices by kind of lane, as "name start..end xN".
std::map<std::string, std::vector<std::string>> ByKind(const table::RankResult& result) {
  const table::Table& lanes = TableOf(result, "lanes");
  const table::Table& slices = TableOf(result, "slices");
  std::map<std::string, std::vector<std::string>> found;
  for (size_t i = 0; i < slices.size(); ++i) {
    const auto lane = static_cast<size_t>(IntOf(slices, "lane", i));
    found[TextOf(lanes, "kind", lane)].push_back(
        TextOf(slices, "name", i) + " " + std::to_string(IntOf(slices, "start_ns", i)) + ".." +
        std::to_string(IntOf(slices, "end_ns", i)) + " x" + std::to_string(IntOf(slices, "n", i)));
  }
  return found;
}

TEST(Timeline, ShowsPassesLayersBlocksAndActivities) {
  const tests::LayeredRun run(tests::TwoPasses());
  const base::Result<Output> output = ComputeTimeline(run.input(), {});
  ASSERT_TRUE(output.ok());
  const auto by_kind = ByKind(output->ranks.at(0));
  using Names = std::vector<std::string>;
  EXPECT_EQ(by_kind.at("passes"), (Names{"prefill 0..70 x1", "decode 100..130 x1"}));
  // The foreign kernel is in no layer.
  EXPECT_EQ(by_kind.at("layers"), (Names{"A 10..24 x1", "A 30..49 x1", "B 100..109 x1"}));
  EXPECT_EQ(by_kind.at("blocks"), (Names{"block 0 10..20 x1", "block 1 20..24 x1",
                                         "block 0 30..42 x1", "block 1 42..48 x1"}));
  EXPECT_EQ(by_kind.at("stream").size(), 13U);
  EXPECT_EQ(by_kind.count("steps"), 0U);
}

TEST(Timeline, CutsToTheRangeAndKeepsTheLanes) {
  const tests::LayeredRun run(tests::TwoPasses());
  TimelineOptions options;
  options.selection.from_ns = 15;
  options.selection.to_ns = 33;
  options.bins = 1;
  const base::Result<Output> output = ComputeTimeline(run.input(), options);
  ASSERT_TRUE(output.ok());
  const auto by_kind = ByKind(output->ranks.at(0));
  using Names = std::vector<std::string>;
  EXPECT_EQ(by_kind.at("passes"), (Names{"prefill 15..33 x1"}));
  EXPECT_EQ(by_kind.at("layers"), (Names{"A 15..33 x2"}));
  // gemm [12, 20) from 15 on, nccl [20, 24), norm [30, 32), gemm from 32 on; at 33 begins the next.
  EXPECT_EQ(by_kind.at("stream"), (Names{"gemm 15..33 x4"}));
  EXPECT_EQ(IntOf(TableOf(output->ranks[0], "slices"), "busy_ns", 3), 5 + 4 + 2 + 1);
  EXPECT_EQ(TableOf(output->ranks[0], "lanes").size(), 4U);
}

TEST(Timeline, StreamsOfManyDevicesAreLanesOfTheirOwnUpToALimit) {
  tests::TraceBuilder build;
  const auto thread = build.Thread(12, 1);
  build.Annotation(thread, "step[DECODE bs=4]", 0, 500);
  for (int64_t i = 0; i < 200; ++i) {
    build.GpuStream(i % 2, i);
    build.Kernel("gemm", i, 1, 0);
    if (i < 127) build.Kernel("gemm", 300 + i, 1, 0);
  }
  const TestRun run(std::move(build).Build());
  const base::Result<Output> output = ComputeTimeline(run.input(), {});
  ASSERT_TRUE(output.ok());
  const table::Table& lanes = TableOf(output->ranks.at(0), "lanes");
  ASSERT_EQ(lanes.size(), 129U);  // one of steps
  EXPECT_EQ(TextOf(lanes, "kind", 0), "steps");
  EXPECT_EQ(TextOf(lanes, "name", 1), "stream 0");
  EXPECT_EQ(TextOf(lanes, "name", 2), "stream 2");
  EXPECT_EQ(TextOf(lanes, "name", 128), "[other]");
  EXPECT_EQ(IntOf(lanes, "n", 128), 73);
}

TEST(Timeline, ThreadsAreTheLanesOfACpuOnlyTrace) {
  tests::TraceBuilder build;
  build.Op(build.Thread(12, 1), "aten::mm", 10, 20);
  build.Op(build.Thread(12, 2), "aten::add", 15, 20);
  const TestRun run(std::move(build).Build());
  const base::Result<Output> output = ComputeTimeline(run.input(), {});
  ASSERT_TRUE(output.ok());
  const table::Table& lanes = TableOf(output->ranks.at(0), "lanes");
  ASSERT_EQ(lanes.size(), 2U);
  EXPECT_EQ(TextOf(lanes, "name", 0), "thread 1");
  EXPECT_EQ(TextOf(lanes, "device", 1), "cpu");
  EXPECT_EQ(IntOf(lanes, "busy_ns", 1), 20);
}

TEST(Timeline, RefusesRangesAndBinsThatAreNone) {
  const tests::LayeredRun run(tests::TwoPasses());
  const auto code = [&](std::optional<int64_t> from, std::optional<int64_t> to, int64_t bins) {
    TimelineOptions options;
    options.selection.from_ns = from;
    options.selection.to_ns = to;
    options.bins = bins;
    const base::Result<Output> output = ComputeTimeline(run.input(), options);
    return output.ok() ? "ok" : output.error().code == base::ErrorCode::kUsage ? "usage" : "none";
  };
  EXPECT_STREQ(code({}, {}, 0), "usage");
  EXPECT_STREQ(code({}, {}, 10'001), "usage");
  EXPECT_STREQ(code(20, 10, 10), "usage");
  EXPECT_STREQ(code(130, {}, 10), "none");
  EXPECT_STREQ(code({}, 0, 10), "none");
  EXPECT_STREQ(code(71, 79, 10), "ok");  // nothing runs there, and that is what it shows
}

TEST(Timeline, SaysSoWhereThereIsNothing) {
  const TestRun run(tests::TraceBuilder().Build());
  const base::Result<Output> output = ComputeTimeline(run.input(), {});
  ASSERT_TRUE(output.ok());
  ASSERT_TRUE(output->ranks.at(0).abstained.has_value());
  EXPECT_EQ(output->ranks[0].abstained->code, "no_activities");
}

}  // namespace
}  // namespace layerscope::analysis

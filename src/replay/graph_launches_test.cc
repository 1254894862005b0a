#include "src/replay/graph_launches.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "src/kernel_names/rule_set.h"

#include "tests/support/trace_builder.h"

namespace layerscope::replay {
namespace {

/// A thread that launches graphs; letters are kernels of 2 µs, 3 µs apart.
class Replays {
 public:
  void Launch(std::string_view kernels, int64_t stream = 7) {
    build_.Call(build_.Thread(1, 1), "cudaGraphLaunch", now_ns_, ++correlation_);
    On(stream, kernels);
  }
  /// More kernels of the last launch, at the same time.
  void On(int64_t stream, std::string_view kernels, int64_t gap_ns = 3'000) {
    build_.GpuStream(0, stream);
    int64_t at_ns = now_ns_ + 10'000;
    for (const char kernel : kernels) {
      build_.Kernel(std::string(1, kernel), at_ns, 2'000, correlation_);
      at_ns += gap_ns;
    }
    end_ns_ = std::max(end_ns_, at_ns);
  }
  void Step(std::string_view name, std::string_view kernels) {
    const int64_t from_ns = now_ns_;
    Next();
    Launch(kernels);
    build_.Annotation(build_.Thread(1, 1), name, from_ns, 5'000);
  }
  void Next() { now_ns_ = std::max(now_ns_ + 1'000, end_ns_); }
  tests::TraceBuilder& build() { return build_; }
  GraphLaunches Find() {
    trace_ = std::move(build_).Build();
    return FindGraphLaunches(trace_, attribution::Attribute(trace_, kernel_names::RuleSet()));
  }
  const trace::Trace& trace() const { return trace_; }

 private:
  tests::TraceBuilder build_;
  trace::Trace trace_;
  int64_t now_ns_ = 0;
  int64_t end_ns_ = 0;
  int64_t correlation_ = 0;
};

TEST(FindGraphLaunches, GroupsByCorrelationAndNotByTime) {
  Replays of;
  of.Launch("abc");
  of.Launch("abd");  // launched at once: kernels of both overlap in time
  const GraphLaunches found = of.Find();
  ASSERT_EQ(found.launches.size(), 2U);
  EXPECT_EQ(found.launches[0].rows, (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_EQ(found.launches[1].rows, (std::vector<uint32_t>{3, 4, 5}));
  EXPECT_EQ(found.n_sequences, 2U);
}

TEST(FindGraphLaunches, NumbersEqualSequencesOnce) {
  Replays of;
  for (const std::string_view kernels : {"abc", "acb", "abc", "ab", "abc"}) {
    of.Launch(kernels);
    of.Next();
  }
  const GraphLaunches found = of.Find();
  std::vector<uint32_t> sequences;
  for (const GraphLaunch& launch : found.launches) sequences.push_back(launch.sequence);
  EXPECT_EQ(sequences, (std::vector<uint32_t>{0, 1, 0, 2, 0}));
}

TEST(FindGraphLaunches, ComparesStreamsByTheirContentWhateverTheyAreCalled) {
  Replays of;
  of.Launch("abc", 7);
  of.On(8, "xy");
  of.Next();
  of.Launch("xy", 5);
  of.On(9, "abc");
  const GraphLaunches found = of.Find();
  EXPECT_EQ(found.n_sequences, 1U);
  const LaneRows first = RowsByLane(of.trace(), found.launches[0]);
  const LaneRows second = RowsByLane(of.trace(), found.launches[1]);
  EXPECT_EQ(first.begin, second.begin);
  ASSERT_EQ(first.rows.size(), 5U);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(of.trace().activities.name[first.rows[i]],
              of.trace().activities.name[second.rows[i]]);
  }
}

TEST(FindGraphLaunches, GroupsLaunchesOfAStep) {
  Replays of;
  of.Step("step[DECODE bs=32]", "ab");
  of.Next();
  of.Step("step[DECODE bs=8]", "ab");
  const GraphLaunches found = of.Find();
  ASSERT_EQ(found.groups.size(), 2U);
  EXPECT_EQ(found.groups[0].batch, 32);
  EXPECT_EQ(found.groups[1].batch, 8);
}

TEST(IsBurst, KnowsKernelsThatCarryOneTimeStamp) {
  Replays of;
  of.Launch("");
  of.On(7, "abcdefghijkl", 0);
  EXPECT_TRUE(of.Find().launches[0].burst);
}

TEST(IsBurst, KnowsKernelsThatAllEndTogether) {
  Replays of;
  of.Launch("");
  of.build().GpuStream(0, 7);
  for (int64_t i = 0; i < 12; ++i) {
    of.build().Kernel("k", 10'000 + i * 1'000, 50'000 - i * 1'000, 1);
  }
  EXPECT_TRUE(of.Find().launches[0].burst);
}

TEST(IsBurst, LeavesShortKernelsAndOverlappingOnesAlone) {
  Replays of;
  of.Launch("");
  of.On(7, "abcdefghijkl", 1'100);  // each starts while the one before still runs
  of.On(8, "abcdefghijkl", 1'100);
  of.Next();
  of.Launch("abc");
  const GraphLaunches found = of.Find();
  EXPECT_FALSE(found.launches[0].burst);
  EXPECT_FALSE(found.launches[1].burst);
}

}  // namespace
}  // namespace layerscope::replay

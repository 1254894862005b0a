#include "src/analysis/interval_union.h"

#include <gtest/gtest.h>

namespace layerscope::analysis {
namespace {

TEST(IntervalUnion, OverlapsAndNestingCountOnce) {
  IntervalUnion busy;
  busy.Add(0, 10);
  busy.Add(5, 10);  // 0..15
  busy.Add(6, 2);   // inside
  busy.Add(15, 5);  // touches: 0..20
  busy.Add(30, 1);  // a gap of 10
  EXPECT_EQ(busy.busy_ns(), 21);
}

TEST(IntervalUnion, EmptyAndNegativeLengthsCoverNothing) {
  IntervalUnion busy;
  busy.Add(0, 0);
  busy.Add(5, -3);
  EXPECT_EQ(busy.busy_ns(), 0);
  busy.Add(5, 1);
  EXPECT_EQ(busy.busy_ns(), 1);
}

TEST(IntervalUnion, NegativeTimesAreTimesLikeOthers) {
  IntervalUnion busy;
  busy.Add(-10, 4);
  busy.Add(-8, 4);
  EXPECT_EQ(busy.busy_ns(), 6);
}

TEST(TimeSpan, RunsFromFirstStartToLastEnd) {
  TimeSpan span;
  EXPECT_TRUE(span.empty());
  EXPECT_EQ(span.wall_ns(), 0);
  span.Add(20, 5);
  span.Add(3, 100);
  span.Add(50, -1);
  EXPECT_EQ(span.first_ns(), 3);
  EXPECT_EQ(span.last_ns(), 103);
  EXPECT_EQ(span.wall_ns(), 100);
}

}  // namespace
}  // namespace layerscope::analysis

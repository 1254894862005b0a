#include "src/trace/time_bounds.h"

#include <gtest/gtest.h>

namespace layerscope::trace {
namespace {

constexpr int64_t kHourNs = 3'600'000'000'000;

Trace WithZero(const TimeBounds& bounds) {
  Trace trace;
  trace.activities.start_ns = {bounds.min_start_ns};
  SetZero(bounds, trace);
  return trace;
}

// DESIGN.md section 7: 2^62 ns less a day, and 24 h.
TEST(TimeBounds, KeepsATimeADayBelowTwoToThe62AndADurationOfADay) {
  EXPECT_TRUE(IsTimeInRange(4'611'686'018'427'387'904 - 86'400'000'000'000));
  EXPECT_FALSE(IsTimeInRange(4'611'686'018'427'387'905 - 86'400'000'000'000));
  EXPECT_FALSE(IsTimeInRange(-4'611'686'018'427'387'905 + 86'400'000'000'000));
  EXPECT_TRUE(IsDurationInRange(-86'400'000'000'000));
  EXPECT_FALSE(IsDurationInRange(86'400'000'000'001));
}

TEST(TimeBounds, ZeroIsTheSmallestStartAndTheEndIsRelativeToIt) {
  TimeBounds bounds;
  bounds.AddSpan(700, 20);
  bounds.AddSpan(500, -9);
  TimeBounds more;
  more.AddStart(300);
  bounds.Merge(more);
  const Trace trace = WithZero(bounds);
  EXPECT_EQ(trace.zero_ns, 300);
  EXPECT_EQ(trace.end_ns, 420);
  EXPECT_EQ(trace.activities.start_ns[0], 0);
}

TEST(TimeBounds, AStartOfZeroIsLeftOutWhenTheNextIsMoreThanAnHourLater) {
  TimeBounds bounds;
  bounds.AddSpan(0, 5);
  bounds.AddSpan(kHourNs, 5);
  EXPECT_EQ(WithZero(bounds).zero_ns, 0);
  EXPECT_EQ(WithZero(bounds).ledger.count(LedgerCode::ts_zero), 0);
  TimeBounds late;
  late.AddSpan(0, 5);
  late.AddSpan(kHourNs + 1, 5);
  const Trace trace = WithZero(late);
  EXPECT_EQ(trace.zero_ns, kHourNs + 1);
  EXPECT_EQ(trace.ledger.count(LedgerCode::ts_zero), 1);
}

TEST(TimeBounds, OfNoRowsZeroIsZero) {
  Trace trace;
  SetZero(TimeBounds(), trace);
  EXPECT_EQ(trace.zero_ns, 0);
  EXPECT_EQ(trace.end_ns, 0);
}

}  // namespace
}  // namespace layerscope::trace

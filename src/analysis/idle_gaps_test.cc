#include "src/analysis/idle_gaps.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

namespace layerscope::analysis {
namespace {

DeviceIdle IdleOf(std::initializer_list<std::pair<int64_t, int64_t>> activities) {
  DeviceIdle idle{trace::DeviceId(0)};
  for (const auto& [start_ns, dur_ns] : activities) idle.AddActivity(start_ns, dur_ns);
  return idle;
}

TEST(DeviceIdle, GapsLieBetweenTheUnionOfActivities) {
  // [0, 10) and [5, 30) overlap; [12, 14) lies inside; [40, 50) follows; [50, 60) touches.
  const DeviceIdle idle = IdleOf({{0, 10}, {5, 25}, {12, 2}, {40, 10}, {50, 10}, {90, 1}});
  ASSERT_EQ(idle.gaps().size(), 2U);
  EXPECT_EQ(idle.gaps()[0].start_ns, 30);
  EXPECT_EQ(idle.gaps()[0].end_ns, 40);
  EXPECT_EQ(idle.gaps()[1].start_ns, 60);
  EXPECT_EQ(idle.gaps()[1].end_ns, 90);
  EXPECT_EQ(idle.total_ns(), 40);
}

TEST(DeviceIdle, IdleInAWindowCutsGapsAtItsEnds) {
  const DeviceIdle idle = IdleOf({{0, 10}, {20, 10}, {60, 10}});  // gaps [10, 20), [30, 60)
  EXPECT_EQ(idle.IdleIn(0, 70), 40);
  EXPECT_EQ(idle.IdleIn(15, 40), 15);
  EXPECT_EQ(idle.IdleIn(32, 50), 18);
  EXPECT_EQ(idle.IdleIn(20, 30), 0);
  EXPECT_EQ(idle.IdleIn(0, 10), 0);
}

TEST(DeviceIdle, ANegativeLengthCoversNothing) {
  EXPECT_EQ(IdleOf({{0, 10}, {30, -25}, {40, 5}}).total_ns(), 30);
  EXPECT_EQ(IdleOf({}).total_ns(), 0);
}

}  // namespace
}  // namespace layerscope::analysis

#include "src/analysis/launch_mode.h"

#include <gtest/gtest.h>

namespace layerscope::analysis {
namespace {

TEST(LaunchMode, TellsEagerGraphAndMixedSteps) {
  EXPECT_EQ(ToString(LaunchModeOf(0, 0, 0)), "");
  EXPECT_EQ(ToString(LaunchModeOf(5, 0, 0)), "eager");
  EXPECT_EQ(ToString(LaunchModeOf(5, 5, 0)), "graph");
  EXPECT_EQ(ToString(LaunchModeOf(5, 3, 0)), "mixed");
}

TEST(LaunchMode, AGraphRecordedAsAWholeIsAGraphWithoutKernels) {
  EXPECT_EQ(ToString(LaunchModeOf(0, 0, 1)), "graph");
  EXPECT_EQ(ToString(LaunchModeOf(2, 0, 1)), "mixed");
}

}  // namespace
}  // namespace layerscope::analysis

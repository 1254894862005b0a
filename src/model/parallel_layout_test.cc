#include "src/model/parallel_layout.h"

#include <gtest/gtest.h>

namespace layerscope::model {
namespace {

// Flags as the engines' documentations spell them.
TEST(ParallelLayoutTest, ReadsVllmAndSglangFlags) {
  const auto vllm = ParseServerArguments(
      "vllm serve m --tensor-parallel-size 8 -pp 2 --data_parallel_size=4 "
      "--enable-expert-parallel");
  ASSERT_TRUE(vllm.ok());
  EXPECT_EQ(vllm->tp.size, 8);
  EXPECT_EQ(vllm->tp.source, "--server-args: --tensor-parallel-size");
  EXPECT_EQ(vllm->pp.size, 2);
  EXPECT_EQ(vllm->dp.size, 4);
  EXPECT_FALSE(vllm->ep.size.has_value());
  const auto sglang = ParseServerArguments(R"(["--tp-size", "4", "--ep", "4"])");
  ASSERT_TRUE(sglang.ok());
  EXPECT_EQ(sglang->tp.size, 4);
  EXPECT_EQ(sglang->ep.size, 4);
}

TEST(ParallelLayoutTest, RefusesWhatIsNoSize) {
  for (const char* text : {"--tp", "--tp x", "--tp 0", "--tp=-1", "--tp 99999999999999999999"}) {
    const auto layout = ParseServerArguments(text);
    ASSERT_FALSE(layout.ok()) << text;
    EXPECT_EQ(layout.error().code, base::ErrorCode::kUsage);
  }
}

TEST(ParallelLayoutTest, WorldOfOneHasDegreeOneWhereNothingElseIsSaid) {
  ParallelLayout layout;
  layout.dp = {2, "--dp"};
  FillFromWorldSize(8, layout);
  EXPECT_FALSE(layout.tp.size.has_value());
  FillFromWorldSize(1, layout);
  EXPECT_EQ(layout.tp.size, 1);
  EXPECT_EQ(layout.dp.size, 2);
  EXPECT_EQ(layout.dp.source, "--dp");
}

}  // namespace
}  // namespace layerscope::model

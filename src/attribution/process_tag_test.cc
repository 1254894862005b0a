#include "src/attribution/process_tag.h"

#include <gtest/gtest.h>

namespace layerscope::attribution {
namespace {

TEST(ProcessTag, IsTheBracketedPartAtEitherEnd) {
  EXPECT_EQ(ProcessTag("[TP-0] 1234"), "[TP-0]");
  EXPECT_EQ(ProcessTag("[TP-0] Spans"), "[TP-0]");
  EXPECT_EQ(ProcessTag("1234 [TP01-DP00]"), "[TP01-DP00]");
}

TEST(ProcessTag, IsWhatStandsBesideTheNumber) {
  EXPECT_EQ(ProcessTag("rank0/12"), "rank0/");
  EXPECT_EQ(ProcessTag("worker 12"), "worker");
  EXPECT_EQ(ProcessTag("12_rank0"), "_rank0");
  EXPECT_EQ(ProcessTag("0/1234"), "0/");
  EXPECT_EQ(ProcessTag("128_hack"), "_hack");
}

TEST(ProcessTag, IsEmptyWithoutATextAndANumber) {
  EXPECT_EQ(ProcessTag(""), "");
  EXPECT_EQ(ProcessTag("1234"), "");
  EXPECT_EQ(ProcessTag("Spans"), "");
  EXPECT_EQ(ProcessTag("  "), "");
}

TEST(ProcessTag, BracketTagsAreTold) {
  EXPECT_TRUE(IsBracketTag("[TP-0]"));
  EXPECT_FALSE(IsBracketTag("rank"));
  EXPECT_FALSE(IsBracketTag(""));
}

}  // namespace
}  // namespace layerscope::attribution

#include "src/layers/partial_pass.h"

#include <gtest/gtest.h>

#include "tests/support/spelled_tokens.h"

namespace layerscope::layers {
namespace {

TEST(OverlapWithEnd, FindsTheEndOfAWholePass) {
  EXPECT_EQ(OverlapWithEnd(TokensOf("bcabct"), TokensOf("eabcabcabct")), 6U);
  EXPECT_EQ(OverlapWithEnd(TokensOf("bctss"), TokensOf("eabcabct")), 3U) << "samplers follow it";
  EXPECT_EQ(OverlapWithEnd(TokensOf("xyz"), TokensOf("abct")), 0U);
  EXPECT_EQ(OverlapWithEnd(TokensOf(""), TokensOf("abct")), 0U);
  EXPECT_EQ(OverlapWithEnd(TokensOf("aaaa"), TokensOf("aa")), 2U);
  EXPECT_EQ(OverlapWithEnd(TokensOf("aa"), TokensOf("aaaa")), 2U);
}

TEST(IsBeginning, ComparesNamesOfTheFirstKernels) {
  EXPECT_TRUE(IsBeginning(TokensOf("eab"), TokensOf("eabcabc")));
  EXPECT_TRUE(IsBeginning(TokensOf("eab"), TokensOf("eab")));
  EXPECT_FALSE(IsBeginning(TokensOf("eabd"), TokensOf("eabc")));
  EXPECT_FALSE(IsBeginning(TokensOf("eabc"), TokensOf("eab")));
}

}  // namespace
}  // namespace layerscope::layers

#include "src/layers/partial_pass.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace layerscope::layers {
namespace {

std::vector<Token> Tokens(std::string_view letters) {
  std::vector<Token> tokens;
  for (const char letter : letters) {
    Token token;
    token.name = static_cast<uint32_t>(letter);
    tokens.push_back(token);
  }
  return tokens;
}

TEST(OverlapWithEnd, FindsTheEndOfAWholePass) {
  EXPECT_EQ(OverlapWithEnd(Tokens("bcabct"), Tokens("eabcabcabct")), 6U);
  EXPECT_EQ(OverlapWithEnd(Tokens("bctss"), Tokens("eabcabct")), 3U) << "samplers follow it";
  EXPECT_EQ(OverlapWithEnd(Tokens("xyz"), Tokens("abct")), 0U);
  EXPECT_EQ(OverlapWithEnd(Tokens(""), Tokens("abct")), 0U);
  EXPECT_EQ(OverlapWithEnd(Tokens("aaaa"), Tokens("aa")), 2U);
  EXPECT_EQ(OverlapWithEnd(Tokens("aa"), Tokens("aaaa")), 2U);
}

TEST(IsBeginning, ComparesNamesOfTheFirstKernels) {
  EXPECT_TRUE(IsBeginning(Tokens("eab"), Tokens("eabcabc")));
  EXPECT_TRUE(IsBeginning(Tokens("eab"), Tokens("eab")));
  EXPECT_FALSE(IsBeginning(Tokens("eabd"), Tokens("eabc")));
  EXPECT_FALSE(IsBeginning(Tokens("eabc"), Tokens("eab")));
}

}  // namespace
}  // namespace layerscope::layers

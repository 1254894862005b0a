#include "src/layers/layer_likeness.h"

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

TEST(FindLayerLike, FindsALayerInAnotherForward) {
  EXPECT_EQ(FindLayerLike(Tokens("nqaonudxyz"), Tokens("enngnqaonudxyzls")), 4U);
  EXPECT_EQ(FindLayerLike(Tokens("nqaonudxyz"), Tokens("enngpqaonudxyzls")), 4U)
      << "its norm is a plain one: 1 of 10";
  EXPECT_EQ(FindLayerLike(Tokens("nqaonudxyz"), Tokens("enngpqbonudxyzls")), std::nullopt)
      << "2 of 10 differ";
  EXPECT_EQ(FindLayerLike(Tokens("nqao"), Tokens("nq")), std::nullopt);
  EXPECT_EQ(FindLayerLike(Tokens(""), Tokens("nq")), std::nullopt);
}

}  // namespace
}  // namespace layerscope::layers

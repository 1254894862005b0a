#include "src/layers/layer_likeness.h"

#include <gtest/gtest.h>

#include "tests/support/spelled_tokens.h"

namespace layerscope::layers {
namespace {

TEST(FindLayerLike, FindsALayerInAnotherForward) {
  EXPECT_EQ(FindLayerLike(TokensOf("nqaonudxyz"), TokensOf("enngnqaonudxyzls")), 4U);
  EXPECT_EQ(FindLayerLike(TokensOf("nqaonudxyz"), TokensOf("enngpqaonudxyzls")), 4U)
      << "its norm is a plain one: 1 of 10";
  EXPECT_EQ(FindLayerLike(TokensOf("nqaonudxyz"), TokensOf("enngpqbonudxyzls")), std::nullopt)
      << "2 of 10 differ";
  EXPECT_EQ(FindLayerLike(TokensOf("nqao"), TokensOf("nq")), std::nullopt);
  EXPECT_EQ(FindLayerLike(TokensOf(""), TokensOf("nq")), std::nullopt);
}

}  // namespace
}  // namespace layerscope::layers

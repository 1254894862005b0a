#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/layers/segmentation.h"

#include "tests/support/spelled_tokens.h"

namespace layerscope::layers {
namespace {

// Eight layers of ten kernels from position 2 on, as the B200 trace has them: layer 0's norm is
// another kernel than the fused ones. Positions and counts by hand.

SpelledTokens Decoder() {
  SpelledTokens pass;
  pass.Add("embed reduce norm qkv cache attn out reduce addnorm up act down reduce")
      .Repeat(7, "addnorm qkv cache attn out reduce addnorm up act down reduce")
      .Add("addnorm embed head");
  return pass;
}

Segmentation Given(const SpelledTokens& pass, const SegmentHints& hints = {}) {
  return SegmentByAnchor(pass.tokens(), hints, true);
}

TEST(SegmentByAnchor, NormsAreCountedAsAClass) {
  const Segmentation cut = Given(Decoder().Anchor("norm").Anchor("addnorm"));
  EXPECT_EQ(cut.begin, Every(2, 11, 8));
  EXPECT_EQ(cut.end, 90u);
  EXPECT_EQ(cut.kind, "boundary");
  EXPECT_EQ(cut.anchors_per_layer, 2);
  EXPECT_GE(cut.confidence, kConfident);
}

TEST(SegmentByAnchor, HalfTheNumberOfLayersIsNotBelieved) {
  SegmentHints hints;
  hints.num_layers = 4;
  EXPECT_LT(Given(Decoder().Anchor("attn"), hints).confidence, kConfident);
  hints.num_layers = 8;
  EXPECT_GE(Given(Decoder().Anchor("attn"), hints).confidence, kConfident);
}

TEST(SegmentByAnchor, AnAttentionDoesNotTellWhetherNormsCloseAnEncodersBlocks) {
  SpelledTokens pass;
  pass.Add("embed layernorm")
      .Repeat(12, "qkv attn out add layernorm up gelu down add layernorm")
      .Add("head")
      .Anchor("attn");
  SegmentHints hints;
  hints.num_layers = 12;
  EXPECT_LT(Given(pass, hints).confidence, kConfident);
}

TEST(SegmentByAnchor, AnAnchorThatLayerZeroLacksDoesNotCutLate) {
  // 16 = 8 x 2 anchors, the first of them half a layer late.
  SpelledTokens pass = Decoder();
  pass.Anchor("addnorm");
  EXPECT_EQ(Given(pass).begin, Every(2, 11, 8));
  SegmentHints insist;
  insist.anchor_is_boundary = true;
  const Segmentation refused = Given(pass, insist);
  EXPECT_FALSE(refused.ok());
  EXPECT_NE(refused.rejected.find("does not open layer 0"), std::string::npos) << refused.rejected;
}

TEST(SegmentByAnchor, PeriodAnchorsMoveBackToTheInputNorm) {
  for (const char* word : {"attn", "act", "qkv"}) {
    const Segmentation cut = Given(Decoder().Anchor(word));
    EXPECT_EQ(cut.begin, Every(2, 11, 8)) << word;
    EXPECT_EQ(cut.kind, "period") << word;
    EXPECT_EQ(cut.anchors_per_layer, 1) << word;
  }
}

TEST(SegmentByAnchor, OneMoreAnchorBehindTheEmbedding) {
  const Segmentation cut = Given(Decoder().Anchor("reduce"));
  EXPECT_EQ(cut.begin, Every(2, 11, 8));
  EXPECT_EQ(cut.anchors_per_layer, 2);
}

TEST(SegmentByAnchor, AnchorsOfSomeLayersAreRefusedWithTheResidue) {
  SpelledTokens pass;
  pass.Add("embed");
  for (int i = 0; i < 4; ++i) {
    pass.Add("norm qkv window out norm up act down").Add("norm qkv attn out norm up act down");
  }
  pass.Add("norm head").Anchor("window");
  SegmentHints hints;
  hints.num_layers = 8;
  const Segmentation refused = Given(pass, hints);
  EXPECT_FALSE(refused.ok());
  EXPECT_NE(refused.rejected.find("4 times"), std::string::npos) << refused.rejected;
  EXPECT_NE(refused.rejected_hint.find("draft"), std::string::npos);
}

TEST(SegmentByAnchor, AnOffsetMustBeAnOccurrence) {
  SegmentHints hints;
  hints.anchor_offset = 8;
  const Segmentation refused = Given(Decoder().Anchor("attn"), hints);
  EXPECT_NE(refused.rejected.find("offset 8 is no occurrence"), std::string::npos);
  EXPECT_NE(refused.rejected.find("8 times"), std::string::npos);
}

TEST(SegmentByAnchor, UnverifiedProfileAnchorsOnlyFail) {
  SpelledTokens pass;
  pass.Add("a b c d").Anchor("b");
  const Segmentation failed = SegmentByAnchor(pass.tokens(), {}, false);
  EXPECT_FALSE(failed.ok());
  EXPECT_TRUE(failed.rejected.empty());
  EXPECT_FALSE(failed.why_not.empty());
}

TEST(SegmentByAnchor, BlocksPerLayerSettleTwoHalves) {
  SpelledTokens pass;
  pass.Add("embed");
  for (int i = 0; i < 4; ++i) {
    pass.Add("norm qkv cache attn out norm up route experts")
        .Add("norm qkv cache attn out norm up act down");
  }
  pass.Add("norm head").Anchor("norm");
  SegmentHints hints;
  hints.blocks_per_layer = 4;
  EXPECT_EQ(Given(pass, hints).begin, Every(1, 18, 4));
  hints.blocks_per_layer = 2;
  EXPECT_EQ(Given(pass, hints).begin, Every(1, 9, 8));
}

TEST(SegmentByAnchor, UnknownKernelsAreCutAtTheAnchorItself) {
  SpelledTokens pass;
  pass.Add("x y").Repeat(6, "open k1 k2 k3 k4").Anchor("open");
  SegmentHints hints;
  hints.anchor_is_boundary = true;
  const Segmentation cut = Given(pass, hints);
  EXPECT_EQ(cut.begin, Every(2, 5, 6));
  EXPECT_EQ(cut.end, 32u);
  EXPECT_LT(cut.confidence, kConfident);
}

TEST(SegmentByAnchor, AnAnchorThatStandsOncePerPassIsRefused) {
  for (const bool cut : {false, true}) {
    SpelledTokens pass;
    pass.Add("once").Repeat(8, "norm qkv attn out norm up act down").Add("norm head");
    SegmentHints hints;
    hints.may_be_cut_last = cut;
    const Segmentation refused = Given(pass.Anchor("once"), hints);
    EXPECT_FALSE(refused.ok());
    EXPECT_NE(refused.rejected.find("stands once"), std::string::npos) << refused.rejected;
  }
}

TEST(SegmentByAnchor, AnAnchorOfEverySecondLayerIsRefusedThoughAWindowMayCutThePass) {
  SpelledTokens pass;
  pass.Add("embed");
  for (int i = 0; i < 4; ++i) {
    pass.Add("norm qkv cache window out norm up act down")
        .Add("norm qkv cache attn out norm up act down");
  }
  pass.Add("norm head sample").Anchor("window");
  SegmentHints hints;
  hints.may_be_cut_last = true;
  for (const bool boundary : {false, true}) {
    hints.anchor_is_boundary = boundary;
    const Segmentation refused = Given(pass, hints);
    EXPECT_FALSE(refused.ok());
    EXPECT_NE(refused.rejected.find("in 4 of its 8 layers (found by repetition)"),
              std::string::npos)
        << refused.rejected;
  }
}

TEST(SegmentByAnchor, BlocksThatTheLayersDoNotHaveAreRefused) {
  SegmentHints hints;
  hints.blocks_per_layer = 3;
  const Segmentation period = Given(Decoder().Anchor("attn"), hints);
  EXPECT_NE(period.rejected.find("each layer holds 1, not 3"), std::string::npos)
      << period.rejected;
  // 17 anchors, one of them the final norm: 17 - 8 x 3 - 1.
  const Segmentation norms = Given(Decoder().Anchor("norm").Anchor("addnorm"), hints);
  EXPECT_NE(norms.rejected.find("residue -8"), std::string::npos) << norms.rejected;
}

TEST(SegmentByAnchor, NumbersThatNoModelHasAreRefusedBeforeTheyAreMultiplied) {
  SegmentHints hints;
  hints.num_layers = int64_t{1} << 62;
  hints.blocks_per_layer = 4;
  EXPECT_FALSE(Given(Decoder().Anchor("attn"), hints).rejected.empty());
  hints.num_layers = 8;
  hints.blocks_per_layer = int64_t{1} << 62;
  EXPECT_FALSE(Given(Decoder().Anchor("attn"), hints).rejected.empty());
}

TEST(SegmentByAnchor, AnOffsetThatLeavesTooFewAnchorsIsNamed) {
  SegmentHints hints;
  hints.num_layers = 8;
  hints.anchor_offset = 1;
  const Segmentation refused = Given(Decoder().Anchor("attn"), hints);
  EXPECT_NE(refused.rejected.find("from occurrence 1 on 7 anchors are left"), std::string::npos)
      << refused.rejected;
  EXPECT_NE(refused.rejected_hint.find("--anchor-offset"), std::string::npos);
}

TEST(SegmentByAnchor, ALiteralCutAtAttentionLeavesTheFinalNormInTheTail) {
  SegmentHints hints;
  hints.anchor_is_boundary = true;
  SpelledTokens pass;
  pass.Repeat(8, "attn out norm up act down norm qkv cache").Add("attn out norm up act down");
  const uint32_t end = pass.size();
  pass.Add("norm head sample").Anchor("attn");
  const Segmentation cut = Given(pass, hints);
  ASSERT_TRUE(cut.ok()) << cut.rejected << cut.why_not;
  EXPECT_EQ(cut.end, end);
}

}  // namespace
}  // namespace layerscope::layers

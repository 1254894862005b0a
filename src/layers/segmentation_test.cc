#include "src/layers/segmentation.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/spelled_tokens.h"

namespace layerscope::layers {
namespace {

// Sequences written by hand after the real ones of formats/layer_finding.md; positions counted by
// hand. A word is a kernel (spelled_tokens.h).

Segmentation Cut(const SpelledTokens& spelled, const SegmentHints& hints = {}) {
  return SegmentByRepetition(spelled.tokens(), hints);
}

TEST(SegmentByRepetition, PlainDecoder) {
  SpelledTokens pass;
  pass.Add("prepare embed").Add(kFirst).Repeat(7, kLayer).Add("addnorm embed head");
  const Segmentation cut = Cut(pass);
  EXPECT_EQ(cut.begin, Every(2, 10, 8));
  EXPECT_EQ(cut.end, 82u);
  EXPECT_FALSE(cut.cut_first);
  EXPECT_FALSE(cut.cut_last);
  EXPECT_GE(cut.confidence, kConfident);
  EXPECT_EQ(cut.kind, "repetition");
  EXPECT_EQ(cut.block_begin[0], (Positions{2, 8}));
  EXPECT_EQ(cut.block_begin[7], (Positions{72, 78}));
}

TEST(SegmentByRepetition, EagerNormOpensAtItsCast) {
  const std::string norm = "cast pow mean eps rsqrt mul mul ";
  SpelledTokens pass;
  pass.Add("embed").Repeat(6, norm + "qkv attn out add " + norm + "up act down add").Add(norm);
  const Segmentation cut = Cut(pass);
  EXPECT_EQ(cut.begin, Every(1, 22, 6));
  EXPECT_EQ(cut.end, 133u);
  EXPECT_GE(cut.confidence, kConfident);
}

TEST(SegmentByRepetition, QueryAndKeyNormsWithTheHiddenNormsNameOpenNothing) {
  SpelledTokens pass;
  pass.Add("embed")
      .Repeat(6, "norm qkv norm norm rope cache attn out norm up act down")
      .Add("norm");
  const Segmentation cut = Cut(pass);
  EXPECT_EQ(cut.begin, Every(1, 12, 6));
  EXPECT_EQ(cut.end, 73u);
}

TEST(SegmentByRepetition, LatentAttentionHasNormsBetweenProjections) {
  SpelledTokens pass;
  pass.Add("embed norm qkv norm norm up rope cache attn out addnorm up act down")
      .Repeat(7, "addnorm qkv norm norm up rope cache attn out addnorm up act down")
      .Add("addnorm head");
  const Segmentation cut = Cut(pass);
  EXPECT_EQ(cut.begin, Every(1, 13, 8));
  EXPECT_GE(cut.confidence, kConfident);
}

TEST(SegmentByRepetition, SandwichNorms) {
  SpelledTokens pass;
  pass.Add("embed")
      .Repeat(6, "norm qkv rope cache attn out norm add norm up act down norm add")
      .Add("norm head");
  const Segmentation cut = Cut(pass);
  EXPECT_EQ(cut.begin, Every(1, 14, 6));
  EXPECT_EQ(cut.end, 85u);
  EXPECT_EQ(cut.block_begin[1], (Positions{15, 23}));
}

TEST(SegmentByRepetition, AnAllReduceFusedWithTheNextNormBeginsTheNextLayer) {
  SpelledTokens pass;
  pass.Add("embed norm qkv rope cache attn out arnorm up act down")
      .Repeat(5, "arnorm qkv rope cache attn out arnorm up act down")
      .Add("reduce addnorm head");
  const Segmentation cut = Cut(pass);
  EXPECT_EQ(cut.begin, Every(1, 10, 6));
  EXPECT_EQ(cut.end, 62u) << "the plain all-reduce stands in for the fused one";
}

TEST(SegmentByRepetition, SlidingAndFullAttentionInTurn) {
  SpelledTokens pass;
  pass.Add("embed");
  for (int i = 0; i < 4; ++i) {
    pass.Add("norm qkv cache window out addnorm up route experts")
        .Add("norm qkv cache attn combine out addnorm up route experts");
  }
  pass.Add("norm head");
  const Segmentation cut = Cut(pass);
  EXPECT_EQ(cut.begin, (Positions{1, 10, 20, 29, 39, 48, 58, 67}));
  EXPECT_GE(cut.confidence, kConfident);
}

TEST(SegmentByRepetition, DenseLayersBeforeExperts) {
  SpelledTokens pass;
  pass.Add("embed").Add(kFirst).Add(kLayer);
  pass.Repeat(8, "addnorm qkv rope cache attn out addnorm up route experts experts").Add("addnorm");
  const Segmentation cut = Cut(pass);
  EXPECT_EQ(cut.begin.size(), 10u);
  EXPECT_EQ(cut.begin[2], 21u);
  EXPECT_GE(cut.confidence, kConfident);
}

TEST(SegmentByRepetition, HybridOfLinearAndFullAttention) {
  SpelledTokens pass;
  pass.Add("embed norm qkv conv gdn out addnorm up act down");
  for (int i = 1; i < 12; ++i) {
    pass.Add(i % 4 == 3 ? "addnorm qkv norm norm rope cache attn out addnorm up act down"
                        : "addnorm qkv conv gdn out addnorm up act down");
  }
  pass.Add("addnorm head");
  const Segmentation cut = Cut(pass);
  ASSERT_EQ(cut.begin.size(), 12u);
  EXPECT_EQ(cut.begin[3], 28u);
  EXPECT_EQ(cut.begin[4], 40u);
}

TEST(SegmentByRepetition, APassThatBeganBeforeTheWindow) {
  SpelledTokens pass;
  pass.Add("attn out addnorm up act down").Repeat(5, kLayer).Add("addnorm");
  SegmentHints hints;
  hints.may_be_cut_first = true;
  const Segmentation cut = Cut(pass, hints);
  EXPECT_EQ(cut.begin, Every(6, 10, 5));
  EXPECT_TRUE(cut.cut_first);
  EXPECT_EQ(cut.end, 56u);
}

TEST(SegmentByRepetition, APassThatTheWindowCutsOff) {
  SpelledTokens pass;
  pass.Add("embed").Add(kFirst).Repeat(4, kLayer).Add("addnorm qkv rope cache");
  SegmentHints hints;
  hints.may_be_cut_last = true;
  const Segmentation cut = Cut(pass, hints);
  EXPECT_EQ(cut.begin, Every(1, 10, 6));
  EXPECT_TRUE(cut.cut_last);
  EXPECT_EQ(cut.end, pass.size());
}

TEST(SegmentByRepetition, SeamsOfAPiecewiseCaptureStandForMixers) {
  SpelledTokens pass;
  pass.Add("embed norm qkv rope cache");
  for (int i = 0; i < 5; ++i) pass.Seam().Add("out addnorm up act down addnorm qkv rope cache");
  pass.Seam().Add("out addnorm up act down addnorm");
  const Segmentation cut = Cut(pass);
  EXPECT_EQ(cut.begin, Every(1, 9, 6));
  EXPECT_EQ(cut.end, 55u);
}

TEST(SegmentByRepetition, OneMixerALayerWhereNoFfnExists) {
  SpelledTokens pass;
  pass.Add("embed").Repeat(24, "norm qkv conv mamba gatednorm out").Add("norm head");
  const Segmentation cut = Cut(pass);
  EXPECT_EQ(cut.begin, Every(1, 6, 24));
  EXPECT_EQ(cut.end, 145u);
  EXPECT_GE(cut.confidence, 0.6);
}

TEST(SegmentByRepetition, APatternThatBeginsWithAnFfn) {
  SpelledTokens pass;
  std::vector<model::PlannedLayer> plan;
  pass.Add("embed");
  for (int i = 0; i < 3; ++i) {
    pass.Add("norm up act down norm qkv conv mamba out norm qkv conv mamba out")
        .Add("norm up route experts norm qkv cache attn out");
    for (const char* type : {"MLP", "MAMBA", "MAMBA", "MOE", "ATTN"}) plan.push_back({type, {}});
  }
  pass.Add("norm head");
  SegmentHints hints;
  hints.num_layers = 15;
  hints.plan = plan;
  const Segmentation cut = Cut(pass, hints);
  ASSERT_EQ(cut.begin.size(), 15u);
  EXPECT_EQ(Positions(cut.begin.begin(), cut.begin.begin() + 6), (Positions{1, 5, 10, 15, 19, 24}));
  EXPECT_EQ(cut.end, 70u);
  EXPECT_GE(cut.confidence, kConfident);
}

}  // namespace
}  // namespace layerscope::layers

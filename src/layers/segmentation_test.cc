#include "src/layers/segmentation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/spelled_tokens.h"

namespace layerscope::layers {
namespace {

// Sequences written by hand after the real ones of formats/layer_finding.md; positions counted by
// hand. A word is a kernel (spelled_tokens.h).

using Positions = std::vector<uint32_t>;

constexpr const char* kFirst = "norm qkv rope cache attn out addnorm up act down";
constexpr const char* kLayer = "addnorm qkv rope cache attn out addnorm up act down";

Positions Every(uint32_t first, uint32_t step, uint32_t n) {
  Positions positions;
  for (uint32_t i = 0; i < n; ++i) positions.push_back(first + i * step);
  return positions;
}

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

TEST(SegmentByRepetition, ExpertsInTurnWithDenseLayersAreAmbiguous) {
  SpelledTokens pass;
  pass.Add("embed");
  for (int i = 0; i < 4; ++i) {
    pass.Add("norm qkv rope cache attn out norm up route experts")
        .Add("norm qkv rope cache attn out norm up act down");
  }
  pass.Add("norm head");
  const Segmentation abstained = Cut(pass);
  EXPECT_FALSE(abstained.ok());
  EXPECT_EQ(abstained.abstained_code, "ambiguous_layers");
  EXPECT_NE(abstained.how.find("--config"), std::string::npos);
  SegmentHints hints;
  hints.num_layers = 8;
  EXPECT_EQ(Cut(pass, hints).begin, Every(1, 10, 8));
  hints.num_layers = 4;
  EXPECT_EQ(Cut(pass, hints).begin, Every(1, 20, 4));
}

TEST(SegmentByRepetition, MambaInTurnWithFfnIsAmbiguous) {
  SpelledTokens pass;
  pass.Add("embed").Repeat(8, "norm qkv conv mamba out norm up act down").Add("norm head");
  EXPECT_EQ(Cut(pass).abstained_code, "ambiguous_layers");
  SegmentHints hints;
  hints.num_layers = 16;
  const Segmentation blocks = Cut(pass, hints);
  ASSERT_EQ(blocks.begin.size(), 16u);
  EXPECT_EQ(blocks.begin[1], 6u);
}

TEST(SegmentByRepetition, EncodersWithLayerNormAreAmbiguous) {
  SpelledTokens pass;
  pass.Add("embed layernorm")
      .Repeat(12, "qkv attn out add layernorm up gelu down add layernorm")
      .Add("head");
  EXPECT_EQ(Cut(pass).abstained_code, "ambiguous_layers");
}

TEST(SegmentByRepetition, ASingleLayerShowsNoRepetition) {
  SpelledTokens pass;
  pass.Add("embed").Add(kFirst).Add("addnorm head");
  EXPECT_EQ(Cut(pass).why_not,
            "only one layer is recognised, and a single layer shows no repetition");
  SegmentHints hints;
  hints.num_layers = 1;
  const Segmentation cut = Cut(pass, hints);
  EXPECT_EQ(cut.begin, Positions{1});
  EXPECT_EQ(cut.end, 11u);
  EXPECT_LT(cut.confidence, kConfident);
}

TEST(SegmentByRepetition, AnotherNumberOfLayersThanTheConfigs) {
  SpelledTokens pass;
  pass.Add("embed").Add(kFirst).Repeat(7, kLayer).Add("addnorm head");
  SegmentHints hints;
  hints.num_layers = 9;
  const Segmentation cut = Cut(pass, hints);
  EXPECT_FALSE(cut.ok());
  EXPECT_EQ(cut.why_not, "the model has 9 layers and 8 are found in this pass");
}

TEST(SegmentByRepetition, HiddenClassesNeverGiveConfidence) {
  struct Hidden {
    const char* layer;
    const char* what;
  };
  for (const Hidden& hidden : {Hidden{"k1 qkv rope cache attn out k1 up act down", "norms"},
                               Hidden{"norm qkv rope cache k1 out norm up act down", "mixers"},
                               Hidden{"norm k1 rope cache attn k2 norm k3 act k4", "GEMMs"},
                               Hidden{"norm qkv rope cache attn out norm up k1 down", "FFN"}}) {
    SpelledTokens pass;
    pass.Add("embed").Repeat(12, hidden.layer).Add("norm head");
    const Segmentation cut = Cut(pass);
    EXPECT_LT(cut.confidence, kConfident) << hidden.what;
  }
}

TEST(SegmentByRepetition, HalfOfTheMixersHiddenGivesNoConfidence) {
  SpelledTokens pass;
  pass.Add("embed");
  for (int i = 0; i < 8; ++i) {
    pass.Add("norm qkv rope cache attn out norm up act down")
        .Add("norm qkv rope cache unnamed out norm up act down");
  }
  pass.Add("norm head");
  EXPECT_LT(Cut(pass).confidence, kConfident);
}

TEST(SegmentByRepetition, HalfTheNumberOfLayersIsNotBelieved) {
  SpelledTokens pass;
  pass.Add("embed").Add(kFirst).Repeat(11, kLayer).Add("addnorm head");
  SegmentHints hints;
  hints.num_layers = 6;
  const Segmentation cut = Cut(pass, hints);
  EXPECT_LE(cut.confidence, 0.6);
  EXPECT_NE((cut.why + cut.why_not).find("12 runs of attention and FFN"), std::string::npos);
  hints.num_layers = 24;  // a block a layer
  EXPECT_LE(Cut(pass, hints).confidence, 0.6);
  hints.num_layers = 12;
  EXPECT_GE(Cut(pass, hints).confidence, kConfident);
}

TEST(SegmentByRepetition, TwoHalvesAreALayerWhereTheConfigSaysSo) {
  SpelledTokens pass;
  pass.Add("embed").Repeat(6,
                           "norm qkv rope cache attn out norm up route experts "
                           "norm qkv rope cache attn out norm up act down");
  pass.Add("norm head");
  SegmentHints hints;
  hints.num_layers = 6;
  EXPECT_LE(Cut(pass, hints).confidence, 0.6);
  const std::vector<model::PlannedLayer> longcat(6, {"FULL+MOE", {}});
  hints.plan = longcat;
  const Segmentation doubles = Cut(pass, hints);
  EXPECT_EQ(doubles.begin, Every(1, 20, 6));
  EXPECT_GE(doubles.confidence, kConfident);
  hints.plan = {};
  hints.blocks_per_layer = 4;
  EXPECT_GE(Cut(pass, hints).confidence, kConfident);
}

TEST(SegmentByRepetition, TheConfigsKindsOfLayersCheckTheCut) {
  SpelledTokens pass;
  pass.Add("embed").Repeat(4,
                           "norm qkv rope cache attn out norm up act down "
                           "norm qkv rope cache attn out norm up route experts");
  pass.Add("norm head");
  std::vector<model::PlannedLayer> plan;
  for (int i = 0; i < 8; ++i) plan.push_back({i % 2 == 0 ? "FULL+DENSE" : "FULL+MOE", {}});
  SegmentHints hints;
  hints.num_layers = 8;
  hints.plan = plan;
  EXPECT_GE(Cut(pass, hints).confidence, kConfident);
  std::reverse(plan.begin(), plan.end());
  const Segmentation other = Cut(pass, hints);
  EXPECT_LT(other.confidence, kConfident);
  EXPECT_EQ(other.why, "layer 0 is FULL+MOE in the config and no experts are in it");
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

TEST(SegmentByRepetition, EndsTellNormsThatOpenFromNormsThatClose) {
  const std::string layer = "layernorm qkv attn out add layernorm up gelu down add";
  SpelledTokens open;  // no norm behind the last layer
  open.Add("embed add").Repeat(12, layer).Add("head");
  EXPECT_EQ(Cut(open).begin, Every(2, 10, 12));
  SpelledTokens own;  // the embedding has a norm of its own
  own.Add("embed layernorm").Repeat(12, layer).Add("layernorm head");
  EXPECT_EQ(Cut(own).begin, Every(2, 10, 12));
  SpelledTokens either;  // one norm before, one behind: GPT-2's and BERT's sequences are the same
  either.Add("embed add").Repeat(12, layer).Add("layernorm head");
  EXPECT_EQ(Cut(either).abstained_code, "ambiguous_layers");
  SegmentHints hints;
  hints.num_layers = 12;
  EXPECT_EQ(Cut(either, hints).abstained_code, "ambiguous_layers");
}

TEST(SegmentByRepetition, ALoneNormAtTheEndOfAWindowMayOpenALayer) {
  SpelledTokens pass;
  pass.Add("embed").Add(kFirst).Repeat(4, kLayer).Add("addnorm");
  SegmentHints hints;
  hints.may_be_cut_last = true;
  EXPECT_LT(Cut(pass, hints).confidence, kConfident);
  hints.num_layers = 5;
  EXPECT_GE(Cut(pass, hints).confidence, kConfident);
  // Without that hint, a rotary embedding behind the last layer still shows one that is cut.
  pass.Add("qkv rope");
  const Segmentation cut = Cut(pass);
  EXPECT_EQ(cut.begin, Every(1, 10, 6));
  EXPECT_TRUE(cut.cut_last);
}

TEST(SegmentByRepetition, FfnKernelsBeforeTheFirstLayerGiveNoConfidence) {
  SpelledTokens pass;
  pass.Add("embed").Repeat(6, "norm qkv rope cache unnamed out norm up act down");
  pass.Repeat(6, kLayer).Add("addnorm head");
  EXPECT_LT(Cut(pass).confidence, kConfident);
}

TEST(SegmentByRepetition, MicroBatchesOnOneStreamAreAmbiguous) {
  SpelledTokens pass;
  pass.Add("embed").Repeat(8,
                           "norm qkv rope cache attn out norm up route "
                           "norm qkv rope cache attn out norm up route experts act experts act");
  pass.Add("norm head");
  EXPECT_EQ(Cut(pass).abstained_code, "ambiguous_layers");
}

TEST(SegmentByRepetition, TrainingStepsAreLeftAlone) {
  SpelledTokens pass;
  pass.Add("embed").Repeat(6, kLayer).Repeat(12, "backward");
  EXPECT_EQ(Cut(pass).abstained_code, "training_step");
}

TEST(SegmentByRepetition, NothingToCut) {
  EXPECT_FALSE(Cut(SpelledTokens()).ok());
  EXPECT_EQ(Cut(SpelledTokens().Add("a b c")).abstained_code, "no_mixer");
  EXPECT_EQ(Cut(SpelledTokens().Add("qkv attn out")).abstained_code, "no_norm");
}

TEST(SegmentByRepetition, MoreLayersThanAnyModelHasAreWithheld) {
  SpelledTokens pass;
  pass.Add("embed").Repeat(4097, "norm qkv cache attn out norm up act down").Add("norm head");
  const Segmentation cut = SegmentByRepetition(pass.tokens(), {});
  EXPECT_FALSE(cut.ok());
  EXPECT_EQ(cut.abstained_code, "too_many_layers");
}

}  // namespace
}  // namespace layerscope::layers

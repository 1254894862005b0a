#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/layers/segmentation.h"

#include "tests/support/spelled_tokens.h"

namespace layerscope::layers {
namespace {

// When a cut is withheld or not trusted. Sequences written by hand; a word is a kernel
// (spelled_tokens.h).

Segmentation Cut(const SpelledTokens& spelled, const SegmentHints& hints = {}) {
  return SegmentByRepetition(spelled.tokens(), hints);
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

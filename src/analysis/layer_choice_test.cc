#include "src/analysis/layer_choice.h"

#include <gtest/gtest.h>

#include "src/analysis/selection.h"

#include "tests/support/layered_run.h"

namespace layerscope::analysis {
namespace {

using tests::LayeredRun;
using tests::LayeredTrace;
using tests::TwoPasses;

std::vector<uint32_t> Rows(const LayeredRun& run, const Selection& selection) {
  base::Result<std::vector<RankView>> views = Select(run.input(), selection);
  if (!views.ok()) {
    ADD_FAILURE() << views.error().message;
    return {};
  }
  return views->front().rows();
}

base::Error ErrorOf(const LayeredRun& run, const Selection& selection) {
  base::Result<std::vector<RankView>> views = Select(run.input(), selection);
  EXPECT_FALSE(views.ok());
  return views.ok() ? base::Error() : views.error();
}

TEST(LayerChoice, ReadsNumbersRangesAndParts) {
  EXPECT_TRUE(ParseLayerChoice("7")->single());
  EXPECT_EQ(ParseLayerChoice("2..5")->last, 5);
  EXPECT_EQ(ParseLayerChoice("head")->part, layers::PassPart::kHead);
  for (const char* text : {"", "-1", "5..2", "tails", "1.5", "99999999999999999999"}) {
    base::Result<LayerChoice> choice = ParseLayerChoice(text);
    ASSERT_FALSE(choice.ok()) << text;
    EXPECT_EQ(choice.error().code, base::ErrorCode::kUsage);
  }
}

TEST(LayerChoice, APassIsItsRowsWithoutForeignOnes) {
  const LayeredRun run(TwoPasses());
  Selection selection;
  selection.passes = NumberRange(0, 0);
  EXPECT_EQ(Rows(run, selection), (std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 7, 8, 9}));
  selection.layer = "1";
  EXPECT_EQ(Rows(run, selection), (std::vector<uint32_t>{4, 5, 7, 8}));
  selection.layer = "tail";
  EXPECT_EQ(Rows(run, selection), (std::vector<uint32_t>{9}));
  selection.passes = NumberRange(0, 1);
  EXPECT_EQ(Rows(run, selection), (std::vector<uint32_t>{9, 12}));
}

TEST(LayerChoice, ALayerWithoutAPassIsThatOfTheLastWholePass) {
  const LayeredRun run(TwoPasses());
  Selection selection;
  selection.layer = "1";
  EXPECT_EQ(Rows(run, selection), (std::vector<uint32_t>{4, 5, 7, 8}));
  base::Result<std::vector<RankView>> views = Select(run.input(), selection);
  EXPECT_EQ(SelectionText(views->front(), selection),
            "selection: pass 0 (last whole pass), layer 1; 19 ns of 97 ns total (19.6 %)");
}

TEST(LayerChoice, WhatDoesNotExistIsNamed) {
  const LayeredRun run(TwoPasses());
  Selection selection;
  selection.passes = NumberRange(2, 2);
  EXPECT_EQ(ErrorOf(run, selection).message, "no pass '2' in this input");
  EXPECT_EQ(ErrorOf(run, selection).hint, "there are: 0 (prefill), 1 (decode)");
  selection.passes = NumberRange(0, 0);
  selection.layer = "2";
  EXPECT_EQ(ErrorOf(run, selection).code, base::ErrorCode::kNotFound);
  EXPECT_EQ(ErrorOf(run, selection).message, "no layer '2' in pass 0");
  EXPECT_EQ(ErrorOf(run, selection).hint, "there are layers 0 to 1");
  selection.passes = NumberRange(1, 1);
  selection.layer = "head";
  EXPECT_EQ(ErrorOf(run, selection).message, "no layer 'head' in pass 1");
}

// Pass 1 starts at 100: what --from leaves decides which pass is meant.
TEST(LayerChoice, TheDefaultPassIsOneThatTheSelectionHolds) {
  const LayeredRun run(TwoPasses());
  Selection selection;
  selection.layer = "1";
  selection.from_ns = 90;
  EXPECT_EQ(Rows(run, selection), (std::vector<uint32_t>{11}));
  base::Result<std::vector<RankView>> views = Select(run.input(), selection);
  EXPECT_NE(SelectionText(views->front(), selection).find("pass 1 (last pass with layers)"),
            std::string::npos);
  selection.layer = "0";
  EXPECT_EQ(ErrorOf(run, selection).code, base::ErrorCode::kNotFound);
  EXPECT_EQ(ErrorOf(run, selection).message,
            "the rest of the selection holds nothing of layer 0 of any pass");
  EXPECT_EQ(ErrorOf(run, selection).hint, "in it there is: 1 (decode)");
  selection.layer.reset();
  selection.passes = NumberRange(0, 0);
  EXPECT_EQ(ErrorOf(run, selection).message, "the rest of the selection holds nothing of pass 0");
}

TEST(LayerChoice, APassOfAnotherPhaseIsNotFound) {
  const LayeredRun run(TwoPasses());
  base::Result<ChosenPass> pass = ChoosePass(run.rank(), NumberRange(0, 0), "decode");
  ASSERT_FALSE(pass.ok());
  EXPECT_EQ(pass.error().message, "pass 0 is no decode pass but prefill");
  EXPECT_EQ(pass.error().hint, "there are: 0 (prefill), 1 (decode)");
}

TEST(LayerChoice, WithoutLayersTheReasonIsTheError) {
  TestRun run(std::move(tests::TraceBuilder()).Build());
  RankInput rank = run.rank();
  rank.no_layers = base::Error{base::ErrorCode::kFailed, "two processes on one device", "--pid"};
  base::Result<LayerRows> rows = ChooseLayerRows(rank, NumberRange(0, 0), {});
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().message, "two processes on one device");
}

TEST(LayerChoice, TheSteadyPassIsShownUnlessAnotherPhaseIsAsked) {
  LayeredTrace trace = TwoPasses();
  trace.structure().steady_pass = 0;
  const LayeredRun run(std::move(trace));
  EXPECT_EQ(ChoosePass(run.rank(), {}, {})->why, "steady");
  base::Result<ChosenPass> decode = ChoosePass(run.rank(), {}, "decode");
  EXPECT_EQ(decode->index, 1U);
  EXPECT_EQ(decode->why, "last pass with layers");
  EXPECT_EQ(ChoosePass(run.rank(), NumberRange(0, 1), {}).error().code, base::ErrorCode::kUsage);
  EXPECT_EQ(ChoosePass(run.rank(), {}, "draft").error().code, base::ErrorCode::kNotFound);
}

}  // namespace
}  // namespace layerscope::analysis

#include "src/render/terminal.h"

#include <gtest/gtest.h>

#include <string>

#include "src/render/display_text.h"

#include "tests/support/sample_result.h"

namespace layerscope::render {
namespace {

using table::Block;
using table::Severity;

TEST(TerminalTest, BlocksThenEvidenceThenHealth) {
  table::Result result;
  result.command = "summary";
  table::RankResult rank;
  Block facts;
  facts.kind = Block::Kind::kFacts;
  facts.title = "trace.json";
  facts.facts = {{"what", "vLLM, Qwen3-8B"}, {"idle", "12.3 %"}};
  Block text;
  text.title = "note";
  text.text = "A paragraph that is longer than one line of forty cells.";
  rank.blocks = {facts, text};
  rank.coverage = {1000, {{"launch_correlation", 972}, {"unresolved", 28}}, {{"unresolved", 1000}}};
  rank.warnings = {
      {"graph_replay", Severity::kWarning, 3, "Most of the GPU time is one graph launch."}};
  result.ranks = {rank};
  result.health = {{"missing_dur", Severity::kInfo, 2, "Events have no dur."},
                   {"overflow", Severity::kError, 1, "Sums overflow."}};
  EXPECT_EQ(RenderTerminal(result, 40, false, false),
            "trace.json\n"
            "what  vLLM, Qwen3-8B\n"
            "idle  12.3 %\n"
            "\n"
            "note\n"
            "A paragraph that is longer than one line\n"
            "of forty cells.\n"
            "\n"
            "evidence: launch_correlation 97.2 %,\n"
            "unresolved 2.8 %\n"
            "\n"
            "error: Sums overflow. [overflow]\n"
            "warning: Most of the GPU time is one\n"
            "  graph launch. [graph_replay × 3]\n");
  EXPECT_NE(RenderTerminal(result, 0, false, true)
                .find("\ninfo: Events have no dur. [missing_dur × 2]\n"),
            std::string::npos);
}

TEST(TerminalTest, SeveralRanksHaveHeadings) {
  const std::string text = RenderTerminal(SampleRanks(), 40, false, false);
  EXPECT_TRUE(text.starts_with("rank 0  rank0.json.gz ══════════════════\n\nkernels\n")) << text;
  EXPECT_NE(text.find("\n\nb.json ═════════════════════════════════\n\nkernels\n"),
            std::string::npos)
      << text;
}

TEST(TerminalTest, RanksThatOnlyTheirReductionShowsHaveNoSections) {
  table::Result result = SampleRanks();
  for (table::RankResult& rank : result.ranks) {
    rank.blocks = {{.text = "reduced over ranks below"}};
    rank.coverage = {1000, {{"launch_correlation", 600}, {"unresolved", 400}}, {}};
  }
  result.reduced = table::Object();
  result.reduced_blocks = {{.text = "the sum"}};
  const std::string text = RenderTerminal(result, 40, false, false);
  EXPECT_TRUE(text.starts_with("reduced over ranks below\n\nall ranks ═")) << text;
  EXPECT_EQ(text.find("rank0.json.gz"), std::string::npos) << text;
  EXPECT_NE(text.find("\nthe sum\n\nevidence: launch_correlation 60.0 %"), std::string::npos)
      << text;
}

TEST(TerminalTest, AbstentionSaysWhatIsMissingAndHowToGetIt) {
  table::Result result;
  table::RankResult rank;
  rank.abstained = {"no_scopes", "The trace has no module scopes.", "Record with with_stack=True."};
  result.ranks = {rank};
  EXPECT_EQ(RenderTerminal(result, 80, false, false),
            "withheld: The trace has no module scopes.\n"
            "  → Record with with_stack=True.\n");
}

TEST(TerminalTest, LongLabelsPutTheirTextBelow) {
  table::Result result;
  table::RankResult rank;
  Block facts;
  facts.kind = Block::Kind::kFacts;
  facts.facts = {{"layerscope modules trace.json --root Layer_0", "one layer"}, {"short", "text"}};
  rank.blocks = {facts};
  result.ranks = {rank};
  EXPECT_EQ(RenderTerminal(result, 60, false, false),
            "layerscope modules trace.json --root Layer_0\n"
            "    one layer\n"
            "short  text\n");
}

TEST(TerminalTest, TextGoesBelowAWideLabelRatherThanBreak) {
  table::Result result;
  table::RankResult rank;
  Block facts;
  facts.kind = Block::Kind::kFacts;
  facts.facts = {{"kernels by op and shape", "layerscope kernels a.json --by op-dims"},
                 {"more", "layerscope info a"}};
  rank.blocks = {facts};
  result.ranks = {rank};
  EXPECT_EQ(RenderTerminal(result, 50, false, false),
            "kernels by op and shape\n"
            "    layerscope kernels a.json --by op-dims\n"
            "more                     layerscope info a\n");
}

TEST(TerminalTest, DataWithoutBlocksIsStillShown) {
  table::Result result;
  table::RankResult rank;
  rank.data = {{"n_events", 18'221},
               {"gpu", table::Object{{"busy_ns", 45'600'000}}},
               {"devices", table::Array{table::Object{{"device", 0}, {"busy_ns", 1'500}}}}};
  result.ranks = {rank};
  EXPECT_EQ(RenderTerminal(result, 0, false, false),
            "n_events     18,221\n"
            "gpu.busy_ns  45.6 ms\n"
            "\n"
            "devices\n"
            "device  busy us\n"
            "───────────────\n"
            "     0     1.50\n");
}

TEST(TerminalTest, NothingOfTheTraceReachesTheTerminalRaw) {
  table::Result result = SampleRanks();
  const std::string evil = "\x1b]0;owned\x07\r\x9b";
  for (table::RankResult& rank : result.ranks) {
    rank.input = evil;
    Block facts;
    facts.kind = Block::Kind::kFacts;
    facts.title = evil;
    facts.facts = {{evil, evil}};
    Block text;
    text.title = evil;
    text.text = evil;
    rank.blocks[0].title = evil;
    rank.blocks[0].table.notes = {evil};
    rank.blocks[0].table.columns[0].spec.title = evil;
    rank.blocks.insert(rank.blocks.end(), {facts, text});
    rank.coverage.module = {{evil, 1'900'000}};
    rank.abstained = {evil, evil, evil};
    rank.warnings = {{evil, Severity::kWarning, 1, evil}};
  }
  const std::string text = RenderTerminal(result, 80, false, true);
  EXPECT_EQ(text.find_first_of("\x1b\x07\r"), std::string::npos);
  EXPECT_EQ(text, ValidUtf8(text));  // no bare 0x9b, which some terminals take for ESC [
}

}  // namespace
}  // namespace layerscope::render

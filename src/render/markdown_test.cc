#include "src/render/markdown.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/sample_result.h"

namespace layerscope::render {
namespace {

using table::Block;

TEST(MarkdownTest, TablesListsAndEvidence) {
  table::Result result = SampleResult();
  Block facts;
  facts.kind = Block::Kind::kFacts;
  facts.title = "what";
  facts.facts = {{"GPU", "H100 *fast* <80 GB>"}};
  result.ranks[0].blocks.insert(result.ranks[0].blocks.begin(), facts);
  result.ranks[0].warnings = {{"graph_replay", table::Severity::kWarning, 1, "One graph."}};
  EXPECT_EQ(RenderMarkdown(result, false),
            "# layerscope kernels\n"
            "\n"
            "- `rank0.json.gz` (kineto)\n"
            "\n"
            "## what\n"
            "\n"
            "- **GPU:** H100 \\*fast\\* \\<80 GB\\>\n"
            "\n"
            "## kernels\n"
            "\n"
            "| kernel | sum (ms) | share | tokens | mark |\n"
            "|---|---:|---:|---:|---|\n"
            "| `gemm_bf16` | 1.500 | 75.0 % | - | hot |\n"
            "| `copy<a, \"b\"\\|␛[31m>` | 0.400 | 20.0 % | 1,234 |  |\n"
            "\n"
            "evidence: launch_correlation 78.9 %, unresolved 21.1 %\n"
            "\n"
            "## Health\n"
            "\n"
            "- **warning:** One graph. \\[graph_replay\\]\n");
}

TEST(MarkdownTest, TreesAreIndentedAndBackticksFenced) {
  table::Result result = SampleResult();
  table::Table table;
  AddStrings(table, {.name = "module", .role = table::Role::kTree}, {"Model_0", "`odd`"});
  table.depth = [](size_t row) { return static_cast<int>(row) + 1; };
  table.notes = {"… and 3 more rows; -n 0 shows all"};
  result.ranks[0].blocks[0].table = table;
  EXPECT_NE(RenderMarkdown(result, false)
                .find("| module |\n|---|\n| `Model_0` |\n| &nbsp;&nbsp;`` `odd` `` |\n"
                      "\n… and 3 more rows; -n 0 shows all\n"),
            std::string::npos);
}

TEST(MarkdownTest, RanksAreHeadingsAboveTheirBlocks) {
  const std::string text = RenderMarkdown(SampleRanks(), false);
  EXPECT_NE(text.find("\n## rank 0\n\n### kernels\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n## b.json\n\n### kernels\n"), std::string::npos) << text;
}

TEST(MarkdownTest, OnlyUnderscoresAtTheEdgeOfAWordAreMarkup) {
  table::Result result = SampleResult();
  result.ranks[0].blocks[0].title = "fused_moe_kernel _kind_";
  EXPECT_NE(RenderMarkdown(result, false).find("## fused_moe_kernel \\_kind\\_\n"),
            std::string::npos);
}

}  // namespace
}  // namespace layerscope::render

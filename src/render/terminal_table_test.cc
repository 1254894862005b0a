#include "src/render/terminal_table.h"

#include <gtest/gtest.h>

#include <string>

#include "src/render/display_text.h"

#include "tests/support/sample_result.h"

namespace layerscope::render {
namespace {

using table::Role;
using table::Table;
using table::Unit;

const Style kPlain(false);

TEST(TerminalTableTest, NumbersLineUpUnderHeadingsWithTheirUnit) {
  Table table = SampleTable();
  table.title = "kernels";
  EXPECT_EQ(RenderTerminalTable(table, 0, kPlain),
            "kernels\n"
            "kernel              sum ms   share               tokens  mark\n"
            "─────────────────────────────────────────────────────────────\n"
            "gemm_bf16            1.500  75.0 % █████████          -  hot\n"
            "copy<a, \"b\"|␛[31m>   0.400  20.0 % ██▍            1,234\n");
}

TEST(TerminalTableTest, TreesAreDrawnWithGuides) {
  Table table;
  AddStrings(table, {.name = "path", .title = "module", .role = Role::kTree},
             {"Model_0", "Layer_0", "Linear_0", "Layer_1"});
  AddInts(table, {.name = "gpu_incl_ns", .title = "GPU", .unit = Unit::kNanoseconds},
          {4'000'000, 3'000'000, 1'000'000, 1'000'000});
  AddInts(table, {.name = "gpu_excl_ns", .title = "own", .unit = Unit::kNanoseconds},
          {0, 600'000, 500'000, 500'000});
  const std::vector<int> depths = {1, 2, 3, 2};
  table.depth = [depths](size_t row) { return depths[row]; };
  // "own" alone would be in us; the two are read together.
  EXPECT_EQ(RenderTerminalTable(table, 80, kPlain),
            "module        GPU ms  own ms\n"
            "────────────────────────────\n"
            "Model_0        4.000       0\n"
            "├─Layer_0      3.000   0.600\n"
            "│ └─Linear_0   1.000   0.500\n"
            "└─Layer_1      1.000   0.500\n");
}

TEST(TerminalTableTest, NarrowTerminalsHideColumnsAndSaySo) {
  Table table;
  AddStrings(table, {.name = "key", .title = "kernel", .role = Role::kName},
             {"flash_fwd_splitkv_kernel_bf16"});
  AddInts(table, {.name = "n", .unit = Unit::kCount}, {12'345});
  AddInts(table, {.name = "min_ns", .unit = Unit::kNanoseconds, .priority = 2}, {10'000});
  AddInts(table, {.name = "max_ns", .unit = Unit::kNanoseconds, .priority = 3}, {20'000});
  table.notes.push_back("… and 12 more rows; -n 0 shows all");
  EXPECT_EQ(RenderTerminalTable(table, 30, kPlain),
            "kernel               n  min us\n"
            "──────────────────────────────\n"
            "flash_…el_bf16  12,345   10.00\n"
            "… and 12 more rows; -n 0 shows\n"
            "all\n"
            "no room for: max\n");
}

TEST(TerminalTableTest, ANoteOfAColumnStandsWhereTheColumnDoes) {
  Table table;
  AddStrings(table, {.name = "key", .title = "kernel", .role = Role::kName}, {"gemm"});
  AddInts(table, {.name = "min_ns", .unit = Unit::kNanoseconds, .note = "of one call"}, {10'000});
  AddInts(table, {.name = "max_ns", .unit = Unit::kNanoseconds, .note = "of one call"}, {20'000});
  EXPECT_EQ(RenderTerminalTable(table, 0, kPlain),
            "kernel  min us  max us\n"
            "──────────────────────\n"
            "gemm     10.00   20.00\n"
            "of one call\n");
  EXPECT_EQ(RenderTerminalTable(table, 8, kPlain),
            "kernel\n"
            "──────\n"
            "gemm\n"
            "no room\n"
            "for:\n"
            "min, max\n");
}

TEST(TerminalTableTest, PartsOfAWholeWithoutRoomAreShownAsOne) {
  Table table;
  AddStrings(table, {.name = "step"}, {"0", "1"});
  AddInts(table, {.name = "wall_ns", .unit = Unit::kNanoseconds}, {10'000, 21'000});
  const auto part = [](std::string name, std::string title, int priority) {
    table::ColumnSpec spec{.name = std::move(name), .title = std::move(title)};
    spec.unit = Unit::kNanoseconds;
    spec.priority = priority;
    spec.part = true;
    return spec;
  };
  AddInts(table, part("compute_ns", "compute", 0), {6'000, 12'000});
  AddInts(table, part("copy_ns", "copy", 2), {1'000, 2'000});
  AddInts(table, part("launch_ns", "launch", 0), {3'000, 7'000});
  EXPECT_EQ(RenderTerminalTable(table, 45, kPlain),
            "step  wall us  compute us  copy us  launch us\n"
            "─────────────────────────────────────────────\n"
            "0       10.00        6.00     1.00       3.00\n"
            "1       21.00       12.00     2.00       7.00\n")
      << "all fit";
  EXPECT_EQ(RenderTerminalTable(table, 34, kPlain),
            "step  wall us  compute us  rest us\n"
            "──────────────────────────────────\n"
            "0       10.00        6.00     4.00\n"
            "1       21.00       12.00     9.00\n"
            "rest: copy + launch\n");
}

TEST(TerminalTableTest, StatisticsShareAUnitThatSuitsTheSmallOnes) {
  Table table;
  AddInts(table, {.name = "min_ns", .unit = Unit::kNanoseconds}, {9'000, 1'000});
  AddInts(table, {.name = "max_ns", .unit = Unit::kNanoseconds}, {1'200'000, 4'000});
  EXPECT_EQ(RenderTerminalTable(table, 0, kPlain),
            "min us  max us\n"
            "──────────────\n"
            "  9.00  1200.0\n"
            "  1.00     4.0\n");
}

TEST(TerminalTableTest, ColumnsWithoutAKnownCellAreLeftOut) {
  Table table;
  AddStrings(table, {.name = "step"}, {"a"});
  table.columns.push_back(
      {{.name = "context_tokens", .unit = Unit::kCount}, [](size_t) { return table::Cell(); }});
  EXPECT_EQ(RenderTerminalTable(table, 80, kPlain), "step\n────\na\n");
}

TEST(TerminalTableTest, EmptyTablesSaySo) {
  Table table;
  table.title = "steps";
  AddStrings(table, {.name = "step"}, {});
  EXPECT_EQ(RenderTerminalTable(table, 80, kPlain), "steps\n(no rows)\n");
}

TEST(TerminalTableTest, NoLineIsWiderThanTheTerminal) {
  Table table = SampleTable();
  for (int width = 24; width <= 120; ++width) {
    const std::string text = RenderTerminalTable(table, width, kPlain);
    for (const std::string& line : WrapText(text, 0)) {
      EXPECT_LE(DisplayWidth(line), width) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
  }
}

TEST(TerminalTableTest, ColourIsSparing) {
  Table table;
  AddStrings(table, {.name = "key", .role = Role::kName}, {"a\x1b[5m"});
  AddInts(table,
          {.name = "sum_ns", .unit = Unit::kNanoseconds, .role = Role::kShare, .share_of = 4}, {2});
  EXPECT_EQ(RenderTerminalTable(table, 80, Style(true)),
            "\x1b[1mkey\x1b[0m    \x1b[1msum\x1b[0m\x1b[2m ns\x1b[0m   \x1b[1mshare\x1b[0m\n"
            "\x1b[2m──────────────────────────────\x1b[0m\n"
            "a␛[5m       2  50.0 % \x1b[36m████\x1b[0m\n");
}

}  // namespace
}  // namespace layerscope::render

#include "src/table/sort.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace layerscope::table {
namespace {

using Rows = std::vector<size_t>;

Rows Sorted(Table table, std::string_view text) {
  const base::Result<SortKey> key = ParseSortKey(text);
  EXPECT_TRUE(key.ok()) << text;
  if (!key.ok()) return {};
  const base::Status status = SortTable(table, *key);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return table.order.value_or(Rows{});
}

Table Steps() {
  Table table;
  AddInts(table, {.name = "wall_ns", .unit = Unit::kNanoseconds}, {20, 30, 20, 10});
  AddStrings(table, {.name = "phase"}, {"decode", "prefill", "mixed", "decode"});
  return table;
}

TEST(SortTest, NumbersDescendAndTextAscendsByDefault) {
  EXPECT_EQ(Sorted(Steps(), "wall_ns"), (Rows{1, 0, 2, 3}));
  EXPECT_EQ(Sorted(Steps(), "phase"), (Rows{0, 3, 2, 1}));
}

TEST(SortTest, DirectionCanBeGivenAndEqualRowsKeepTheirOrder) {
  EXPECT_EQ(Sorted(Steps(), "wall_ns:asc"), (Rows{3, 0, 2, 1}));
  EXPECT_EQ(Sorted(Steps(), "wall_ns:desc"), (Rows{1, 0, 2, 3}));
  EXPECT_EQ(Sorted(Steps(), "phase:desc"), (Rows{1, 2, 0, 3}));
}

TEST(SortTest, UnitOfTheNameMayBeLeftOut) {
  EXPECT_EQ(Sorted(Steps(), "wall:asc"), (Rows{3, 0, 2, 1}));
  EXPECT_EQ(WithoutUnit("weight_bytes"), "weight");
  EXPECT_EQ(WithoutUnit("share_ppm"), "share");
  EXPECT_EQ(WithoutUnit("bytes"), "bytes");
  EXPECT_EQ(WithoutUnit("_ns"), "_ns");
}

TEST(SortTest, HeadingNamesTheColumnToo) {
  Table table;
  AddInts(table, {.name = "gpu_excl_ns", .title = "GPU own"}, {1, 2});
  EXPECT_EQ(Sorted(table, "gpu own"), (Rows{1, 0}));
  EXPECT_EQ(Sorted(table, "GPU_own:asc"), (Rows{0, 1}));
}

TEST(SortTest, ShareIsTheColumnThatPeopleSeeItOf) {
  Table table;
  AddInts(table, {.name = "n"}, {2, 1});
  AddInts(table, {.name = "sum_ns", .title = "sum", .role = Role::kShare}, {1, 2});
  EXPECT_EQ(Sorted(table, "share"), (Rows{1, 0}));
}

TEST(SortTest, NumbersInsideTextCountAsNumbers) {
  Table table;
  AddStrings(table, {.name = "key"}, {"10.mlp", "9.mlp", "9.attn", "[other]", "010.mlp", "9"});
  EXPECT_EQ(Sorted(table, "key:asc"), (Rows{5, 2, 1, 4, 0, 3}));
}

TEST(SortTest, SortsOnlyTheShownRows) {
  Table table = Steps();
  table.order = Rows{3, 1};
  EXPECT_EQ(Sorted(table, "wall"), (Rows{1, 3}));
}

TEST(SortTest, UnknownCellsStandLastInBothDirections) {
  Table table;
  table.n_rows = 3;
  const auto cell = [](size_t row) { return row == 1 ? Cell(Null{}) : Cell(int64_t(row)); };
  table.columns.push_back({{.name = "tokens"}, cell});
  EXPECT_EQ(Sorted(table, "tokens:asc"), (Rows{0, 2, 1}));
  EXPECT_EQ(Sorted(table, "tokens:desc"), (Rows{2, 0, 1}));
}

TEST(SortTest, NumbersCompareWithTextAndLists) {
  Table table;
  table.n_rows = 4;
  const std::vector<Cell> cells = {Cell(std::string_view("stream 7")), Cell(CellList{"hybrid"}),
                                   Cell(2.5), Cell(int64_t{2})};
  table.columns.push_back({{.name = "stream"}, [cells](size_t row) { return cells[row]; }});
  EXPECT_EQ(Sorted(table, "stream:asc"), (Rows{3, 2, 0, 1}));
}

TEST(SortTest, MapsCompareByTheirSum) {
  Table table;
  table.n_rows = 2;
  const std::vector<Cell> cells = {Cell(CellMap{{"b", 5}}), Cell(CellMap{{"a", 3}, {"c", 4}})};
  table.columns.push_back({{.name = "evidence"}, [cells](size_t row) { return cells[row]; }});
  EXPECT_EQ(Sorted(table, "evidence"), (Rows{1, 0}));
}

TEST(SortTest, TreeKeepsChildrenUnderTheirParent) {
  // root(0) { a(1) { b(2) } c(3) }, second root(4)
  Table table;
  AddInts(table, {.name = "incl_ns"}, {10, 2, 1, 7, 50});
  const std::vector<int> depths = {1, 2, 3, 2, 1};
  table.depth = [depths](size_t row) { return depths[row]; };
  EXPECT_EQ(Sorted(table, "incl"), (Rows{4, 0, 3, 1, 2}));
}

TEST(SortTest, EachCellIsComputedOnce) {
  Table table;
  table.n_rows = 1000;
  auto calls = std::make_shared<int>(0);
  table.columns.push_back({{.name = "n"}, [calls](size_t row) {
                             ++*calls;
                             return Cell(static_cast<int64_t>(row * 7919 % 1000));
                           }});
  EXPECT_EQ(Sorted(table, "n").front(), 321u);  // 321 * 7919 = 2541999
  EXPECT_EQ(*calls, 1000);
}

TEST(SortTest, UnknownColumnSuggestsTheNearest) {
  Table table = Steps();
  const base::Status status = SortTable(table, {"wal", std::nullopt});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, base::ErrorCode::kUsage);
  EXPECT_EQ(status.error().message, "no column 'wal'; did you mean 'wall'?");
  EXPECT_EQ(status.error().hint, "columns: wall, phase");
}

TEST(SortTest, BadSpecificationsAreUsageErrors) {
  for (const std::string_view text : {"", ":asc", "wall:up", "wall:"}) {
    const base::Result<SortKey> key = ParseSortKey(text);
    ASSERT_FALSE(key.ok()) << text;
    EXPECT_EQ(key.error().code, base::ErrorCode::kUsage);
  }
  EXPECT_EQ(ParseSortKey("wall:up").error().message, "'up' is no direction to sort in");
}

}  // namespace
}  // namespace layerscope::table

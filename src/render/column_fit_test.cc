#include "src/render/column_fit.h"

#include <gtest/gtest.h>

#include <vector>

namespace layerscope::render {
namespace {

using Kind = TextColumn::Kind;
using Widths = std::vector<int>;

std::vector<TextColumn> Columns(const std::vector<std::pair<Kind, int>>& kinds) {
  std::vector<TextColumn> columns;
  for (const auto& [kind, priority] : kinds) {
    TextColumn column;
    column.kind = kind;
    column.priority = priority;
    columns.push_back(column);
  }
  return columns;
}

TEST(ColumnFitTest, WithoutLimitEveryColumnHasWhatItNeeds) {
  const auto columns = Columns({{Kind::kName, 0}, {Kind::kNumber, 0}, {Kind::kShare, 0}});
  const ColumnFit fit = FitColumns(columns, {300, 8, 6}, 0);
  EXPECT_EQ(fit.widths, (Widths{300, 8, 6}));
  EXPECT_EQ(fit.bar_width, 12);
}

TEST(ColumnFitTest, NamesTakeTheWidthThatIsLeft) {
  const auto columns = Columns({{Kind::kName, 0}, {Kind::kNumber, 0}, {Kind::kNumber, 0}});
  // 80 = name + 2 + 8 + 2 + 8
  EXPECT_EQ(FitColumns(columns, {300, 8, 8}, 80).widths, (Widths{60, 8, 8}));
  EXPECT_EQ(FitColumns(columns, {20, 8, 8}, 80).widths, (Widths{20, 8, 8}));
}

TEST(ColumnFitTest, BarGivesWayBeforeColumns) {
  const auto columns = Columns({{Kind::kName, 0}, {Kind::kShare, 0}, {Kind::kNumber, 1}});
  // At 60 cells a name keeps 24: 24 + 2 + 6 + 2 + 17 = 51 with every column, 9 more for the bar.
  EXPECT_EQ(FitColumns(columns, {100, 6, 17}, 60).bar_width, 8);
  const ColumnFit fit = FitColumns(columns, {100, 6, 18}, 60);
  EXPECT_EQ(fit.bar_width, 0);
  EXPECT_EQ(fit.widths, (Widths{32, 6, 18}));
}

TEST(ColumnFitTest, LargestPriorityIsHiddenFirstThenFromTheRight) {
  const auto columns = Columns({{Kind::kName, 0},
                                {Kind::kNumber, 2},
                                {Kind::kNumber, 1},
                                {Kind::kNumber, 2},
                                {Kind::kNumber, 0}});
  const Widths natural = {40, 10, 10, 10, 10};
  EXPECT_EQ(FitColumns(columns, natural, 88).widths, (Widths{40, 10, 10, 10, 10}));
  EXPECT_EQ(FitColumns(columns, natural, 70).widths, (Widths{34, 10, 10, 0, 10}));
  EXPECT_EQ(FitColumns(columns, natural, 50).widths, (Widths{26, 0, 10, 0, 10}));
  EXPECT_EQ(FitColumns(columns, natural, 24).widths, (Widths{12, 0, 0, 0, 10}));
  EXPECT_EQ(FitColumns(columns, natural, 10).widths, (Widths{12, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace layerscope::render

#include "src/render/number_format.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace layerscope::render {
namespace {

using table::Cell;
using table::Unit;
using Texts = std::vector<std::string>;

Texts Formatted(Unit unit, const std::vector<Cell>& cells, double basis = 0) {
  const NumberFormat format(unit, cells, basis);
  Texts texts = {format.unit()};
  for (const Cell& cell : cells) texts.push_back(format.Text(cell));
  return texts;
}

std::vector<Cell> Ints(const std::vector<int64_t>& values) {
  return {values.begin(), values.end()};
}

TEST(NumberFormatTest, DurationsShareTheUnitOfTheLargest) {
  EXPECT_EQ(Formatted(Unit::kNanoseconds, Ints({999, 0})), (Texts{"ns", "999", "0"}));
  EXPECT_EQ(Formatted(Unit::kNanoseconds, Ints({1000, 50})), (Texts{"us", "1.00", "0.05"}));
  EXPECT_EQ(Formatted(Unit::kNanoseconds, Ints({123'456, 50'000})), (Texts{"us", "123.5", "50.0"}));
  EXPECT_EQ(Formatted(Unit::kNanoseconds, Ints({44'369'200, 12'300})),
            (Texts{"ms", "44.369", "0.012"}));
  EXPECT_EQ(Formatted(Unit::kNanoseconds, Ints({443'692'000, 12'300})),
            (Texts{"ms", "443.69", "0.01"}));
  EXPECT_EQ(Formatted(Unit::kNanoseconds, Ints({1'234'567'890, -500'000'000})),
            (Texts{"s", "1.235", "-0.500"}));
}

TEST(NumberFormatTest, WhatIsNotZeroIsNotWrittenAsZero) {
  EXPECT_EQ(Formatted(Unit::kNanoseconds, Ints({44'000'000, 499, 500, 0})),
            (Texts{"ms", "44.000", "<0.001", "0.001", "0"}));
}

TEST(NumberFormatTest, UnitCanBeChosenForSeveralColumns) {
  EXPECT_EQ(Formatted(Unit::kNanoseconds, Ints({900'000}), 44e6), (Texts{"ms", "0.900"}));
}

TEST(NumberFormatTest, BytesCountsAndShares) {
  EXPECT_EQ(Formatted(Unit::kBytes, Ints({1023})), (Texts{"B", "1023"}));
  EXPECT_EQ(Formatted(Unit::kBytes, Ints({1536, 1024})), (Texts{"KiB", "1.50", "1.00"}));
  EXPECT_EQ(Formatted(Unit::kCount, Ints({1234567, 5})), (Texts{"", "1,234,567", "5"}));
  EXPECT_EQ(Formatted(Unit::kNone, Ints({1234567})), (Texts{"", "1234567"}));
  EXPECT_EQ(Formatted(Unit::kPartsPerMillion, Ints({234'000})), (Texts{"", "23.4 %"}));
}

TEST(NumberFormatTest, UnknownBooleansAndLists) {
  EXPECT_EQ(Formatted(Unit::kNone,
                      {table::Null{}, true, false, table::CellList{"a", "b"}, table::CellList{}}),
            (Texts{"", "-", "yes", "no", "a, b", "-"}));
  EXPECT_EQ(Formatted(Unit::kNone, {0.9371, std::numeric_limits<double>::quiet_NaN()}),
            (Texts{"", "0.937", "-"}));
}

TEST(NumberFormatTest, NumbersAmongTextCarryTheirUnit) {
  EXPECT_EQ(Formatted(Unit::kNanoseconds, {std::string_view("total"), int64_t{3'210'000}}),
            (Texts{"", "total", "3.21 ms"}));
}

TEST(NumberFormatTest, MapsOfTimeAreShares) {
  EXPECT_EQ(Formatted(Unit::kNanoseconds,
                      {table::CellMap{{"launch_correlation", 972}, {"unresolved", 28}},
                       table::CellMap{{"template", 5}}, table::CellMap{}}),
            (Texts{"", "launch_correlation 97.2 %, unresolved 2.8 %", "template", "-"}));
  EXPECT_EQ(Formatted(Unit::kCount, {table::CellMap{{"X", 1200}, {"M", 3}}}),
            (Texts{"", "X 1,200, M 3"}));
}

TEST(NumberFormatTest, TextIsMadeVisible) {
  EXPECT_EQ(Formatted(Unit::kNone, {std::string_view("\x1b[2J")}), (Texts{"", "␛[2J"}));
}

TEST(NumberFormatTest, OnlyNumbersAreAlignedRight) {
  EXPECT_TRUE(NumberFormat(Unit::kNone, {Cell(int64_t{1}), Cell(table::Null{})}).is_number());
  EXPECT_FALSE(
      NumberFormat(Unit::kNone, {Cell(int64_t{1}), Cell(std::string_view("x"))}).is_number());
  EXPECT_TRUE(NumberFormat(Unit::kCount, {Cell(table::Null{})}).is_number());
}

}  // namespace
}  // namespace layerscope::render

#include "src/table/table.h"

#include <gtest/gtest.h>

#include "src/table/result.h"

namespace layerscope::table {
namespace {

TEST(TableTest, ColumnsShareTheirValues) {
  Table table;
  AddInts(table, {.name = "sum_ns", .unit = Unit::kNanoseconds}, {30, 10});
  AddStrings(table, {.name = "key"},
             {"gemm", "a name too long for the small string of the library"});
  EXPECT_EQ(table.n_rows, 2u);
  EXPECT_EQ(table.size(), 2u);

  const Table copy = table;
  table = {};
  ASSERT_NE(copy.Find("key"), nullptr);
  EXPECT_EQ(std::get<int64_t>(copy.Find("sum_ns")->cell(1)), 10);
  EXPECT_EQ(std::get<std::string_view>(copy.Find("key")->cell(1)),
            "a name too long for the small string of the library");
  EXPECT_EQ(copy.Find("sum"), nullptr);
}

TEST(TableTest, OrderChoosesTheShownRows) {
  Table table;
  AddInts(table, {.name = "n"}, {5, 6, 7});
  table.order = std::vector<size_t>{2, 0};
  EXPECT_EQ(table.size(), 2u);
  EXPECT_EQ(table.RowAt(0), 2u);
  EXPECT_EQ(table.RowAt(1), 0u);
}

TEST(TableDeathTest, ColumnOfAnotherLengthIsABug) {
  Table table;
  AddInts(table, {.name = "n"}, {5, 6, 7});
  EXPECT_DEATH(AddInts(table, {.name = "m"}, {1}), "as many cells");
}

TEST(SeverityTest, WordsAreThoseOfTheEnvelope) {
  EXPECT_EQ(ToString(Severity::kInfo), "info");
  EXPECT_EQ(ToString(Severity::kWarning), "warning");
  EXPECT_EQ(ToString(Severity::kDataLoss), "data_loss");
  EXPECT_EQ(ToString(Severity::kError), "error");
}

}  // namespace
}  // namespace layerscope::table

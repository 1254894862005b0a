#include "src/table/limit.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace layerscope::table {
namespace {

using Rows = std::vector<size_t>;
using Notes = std::vector<std::string>;

Table FourRows() {
  Table table;
  AddInts(table, {.name = "sum_ns", .unit = Unit::kNanoseconds}, {4, 3, 2, 1});
  return table;
}

TEST(LimitRows, KeepsTheFirstAndSaysHowManyAreLeft) {
  Table table = FourRows();
  EXPECT_EQ(LimitRows(table, 1), 3);
  EXPECT_EQ(table.order, Rows{0});
}

TEST(LimitRows, FollowsTheOrderOfTheTable) {
  Table table = FourRows();
  table.order = Rows{3, 2, 1};
  EXPECT_EQ(LimitRows(table, 2), 1);
  EXPECT_EQ(table.order, (Rows{3, 2}));
}

TEST(LimitRows, ZeroAndEnoughKeepAll) {
  for (const int64_t limit : {0, 4, 10}) {
    Table table = FourRows();
    EXPECT_EQ(LimitRows(table, limit), 0);
    EXPECT_FALSE(table.order.has_value());
  }
}

TEST(NoteRowsLeftOut, CountsInWords) {
  Table table = FourRows();
  NoteRowsLeftOut(table, 0);
  EXPECT_TRUE(table.notes.empty());
  NoteRowsLeftOut(table, 1);
  NoteRowsLeftOut(table, 1234);
  EXPECT_EQ(table.notes,
            (Notes{"… and 1 more row; -n 0 shows all", "… and 1,234 more rows; -n 0 shows all"}));
}

}  // namespace
}  // namespace layerscope::table

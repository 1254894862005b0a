#include "src/table/limit.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace layerscope::table {
namespace {

using Rows = std::vector<size_t>;
using Notes = std::vector<std::string>;

Table Kernels() {
  Table table;
  AddInts(table, {.name = "sum_ns", .unit = Unit::kNanoseconds},
          {9'000'000, 3'000'000, 210'000, 1});
  return table;
}

TEST(LimitTest, KeepsTheFirstRowsAndSaysWhatIsLeft) {
  Table table = Kernels();
  LimitRows(table, 1, "sum_ns");
  EXPECT_EQ(table.order, Rows{0});
  EXPECT_EQ(table.notes, Notes{"… and 3 more rows (3.21 ms); -n 0 shows all"});
}

TEST(LimitTest, OneRowIsSingularAndTheSumIsOptional) {
  Table table = Kernels();
  LimitRows(table, 3);
  EXPECT_EQ(table.notes, Notes{"… and 1 more row; -n 0 shows all"});
}

TEST(LimitTest, FollowsTheOrderOfTheTable) {
  Table table = Kernels();
  table.order = Rows{3, 2, 1};
  LimitRows(table, 2, "sum_ns");
  EXPECT_EQ(table.order, (Rows{3, 2}));
  EXPECT_EQ(table.notes, Notes{"… and 1 more row (3.00 ms); -n 0 shows all"});
}

TEST(LimitTest, ZeroAndEnoughKeepAll) {
  for (const size_t max_rows : {size_t{0}, size_t{4}, size_t{10}}) {
    Table table = Kernels();
    LimitRows(table, max_rows, "sum_ns");
    EXPECT_FALSE(table.order.has_value());
    EXPECT_TRUE(table.notes.empty());
  }
}

TEST(LimitTest, SumThatOverflowsIsNotShown) {
  Table table;
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  AddInts(table, {.name = "sum_ns", .unit = Unit::kNanoseconds}, {1, kMax, kMax});
  LimitRows(table, 1, "sum_ns");
  EXPECT_EQ(table.notes, Notes{"… and 2 more rows; -n 0 shows all"});
}

}  // namespace
}  // namespace layerscope::table

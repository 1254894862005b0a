#include "src/analysis/row_order.h"

#include <gtest/gtest.h>

#include "src/analysis/row_table.h"

namespace layerscope::analysis {
namespace {

struct Row {
  std::string name;
  int64_t wall_ns = 0;
};

table::Table TableOf(std::vector<Row> rows) {
  RowTable<Row> table(std::move(rows));
  table.AddText({.name = "name"}, &Row::name).AddInt({.name = "wall_ns"}, &Row::wall_ns);
  table.Add({.name = "maybe"}, [](const Row& row) -> table::Cell {
    if (row.wall_ns == 2) return table::Null();
    return row.wall_ns;
  });
  return table.Take();
}

using Order = std::vector<size_t>;

TEST(SortBy, LargestFirstUnlessAscending) {
  table::Table table = TableOf({{"b", 1}, {"a", 3}, {"c", 2}});
  ASSERT_TRUE(SortBy(table, "wall_ns").ok());
  EXPECT_EQ(*table.order, (Order{1, 2, 0}));
  ASSERT_TRUE(SortBy(table, "wall:asc").ok());
  EXPECT_EQ(*table.order, (Order{0, 2, 1}));
  ASSERT_TRUE(SortBy(table, "name:asc").ok());
  EXPECT_EQ(*table.order, (Order{1, 0, 2}));
}

TEST(SortBy, TiesKeepTheirOrderAndNullComesLast) {
  table::Table table = TableOf({{"a", 2}, {"b", 1}, {"c", 1}});
  ASSERT_TRUE(SortBy(table, "maybe:asc").ok());
  EXPECT_EQ(*table.order, (Order{1, 2, 0}));
  ASSERT_TRUE(SortBy(table, "maybe").ok());
  EXPECT_EQ(*table.order, (Order{1, 2, 0}));
}

TEST(SortBy, NamesTheColumnsThatExist) {
  table::Table table = TableOf({});
  const base::Status unknown = SortBy(table, "wal");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, base::ErrorCode::kUsage);
  EXPECT_EQ(unknown.error().hint, "columns: name, wall_ns, maybe");
  EXPECT_FALSE(SortBy(table, "name:down").ok());
}

TEST(LimitRows, KeepsTheFirstAndSaysHowManyAreLeft) {
  table::Table table = TableOf({{"a", 1}, {"b", 2}, {"c", 3}});
  EXPECT_EQ(LimitRows(table, 0), 0);
  EXPECT_EQ(LimitRows(table, 3), 0);
  EXPECT_EQ(LimitRows(table, 1), 2);
  EXPECT_EQ(*table.order, Order{0});
}

}  // namespace
}  // namespace layerscope::analysis

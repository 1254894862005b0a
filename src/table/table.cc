#include "src/table/table.h"

#include <utility>

#include "src/base/check.h"

namespace layerscope::table {
namespace {

template <typename T, typename ToCell>
void AddVector(Table& table, ColumnSpec spec, std::vector<T> values, ToCell to_cell) {
  if (table.columns.empty() && table.n_rows == 0) table.n_rows = values.size();
  LS_CHECK(values.size() == table.n_rows, "a column has as many cells as its table has rows");
  auto shared = std::make_shared<const std::vector<T>>(std::move(values));
  table.owned.push_back(shared);
  table.columns.push_back({std::move(spec), [shared = std::move(shared), to_cell](size_t row) {
                             return to_cell((*shared)[row]);
                           }});
}

}  // namespace

const Column* Table::Find(std::string_view name) const {
  for (const Column& column : columns) {
    if (column.spec.name == name) return &column;
  }
  return nullptr;
}

void AddInts(Table& table, ColumnSpec spec, std::vector<int64_t> values) {
  AddVector(table, std::move(spec), std::move(values), [](int64_t value) { return Cell(value); });
}

void AddStrings(Table& table, ColumnSpec spec, std::vector<std::string> values) {
  AddVector(table, std::move(spec), std::move(values),
            [](const std::string& value) { return Cell(std::string_view(value)); });
}

}  // namespace layerscope::table

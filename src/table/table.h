#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/table/column.h"

namespace layerscope::table {

/// Rows over column views. Cheap to copy; it owns nothing but what `owned` keeps alive.
struct Table {
  std::string title;  ///< heading for people; may be empty
  size_t n_rows = 0;
  std::vector<Column> columns;
  /// Rows to show, in order, as indices into the columns' rows; absent = all in their order.
  std::optional<std::vector<size_t>> order;
  /// For Role::kTree: the indentation of a row.
  std::function<int(size_t row)> depth;
  /// Text under the table for people ("… and 12 more rows; -n 0 shows all").
  std::vector<std::string> notes;
  std::vector<std::shared_ptr<const void>> owned;

  size_t size() const { return order ? order->size() : n_rows; }
  /// The column-row behind the i-th shown row.
  size_t RowAt(size_t i) const { return order ? (*order)[i] : i; }
  /// The column of that name, or null.
  const Column* Find(std::string_view name) const;
};

/// Adds a column whose cells are taken from `values[row]`; `values` is shared, not copied per cell.
/// The first column of a table without rows sets `n_rows`; later ones must have as many values.
void AddInts(Table& table, ColumnSpec spec, std::vector<int64_t> values);
void AddStrings(Table& table, ColumnSpec spec, std::vector<std::string> values);

}  // namespace layerscope::table

#include "src/analysis/row_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "src/base/format_number.h"
#include "src/base/nearest.h"

namespace layerscope::analysis {
namespace {

using table::Cell;

/// Cells of one column have one type; a null sorts after everything, whatever the direction.
bool Before(const Cell& a, const Cell& b, bool ascending) {
  const bool a_null = std::holds_alternative<table::Null>(a);
  const bool b_null = std::holds_alternative<table::Null>(b);
  if (a_null || b_null) return !a_null && b_null;
  return ascending ? a < b : b < a;
}

base::Error NoColumn(const table::Table& table, const std::string& name) {
  std::vector<std::string> names;
  for (const table::Column& column : table.columns) names.push_back(column.spec.name);
  base::Error error;
  error.code = base::ErrorCode::kUsage;
  error.message = fmt::format("no column '{}'{}", name, base::DidYouMean(name, names));
  error.hint = fmt::format("columns: {}", fmt::join(names, ", "));
  return error;
}

}  // namespace

base::Result<std::vector<size_t>> OrderBy(const table::Table& table, const std::string& sort) {
  const size_t colon = sort.find(':');
  const std::string name = sort.substr(0, colon);
  const std::string direction = colon == std::string::npos ? "desc" : sort.substr(colon + 1);
  if (direction != "asc" && direction != "desc") {
    return base::Error{base::ErrorCode::kUsage, fmt::format("'{}' is no direction", direction),
                       "write --sort COL or --sort COL:asc"};
  }
  const table::Column* column = table.Find(name);
  // "wall" stands for "wall_ns" where that is the only reading.
  if (column == nullptr) column = table.Find(name + "_ns");
  if (column == nullptr) return NoColumn(table, name);
  std::vector<Cell> cells;
  cells.reserve(table.n_rows);
  for (size_t row = 0; row < table.n_rows; ++row) cells.push_back(column->cell(row));
  std::vector<size_t> order(table.n_rows);
  std::iota(order.begin(), order.end(), size_t{0});
  const bool ascending = direction == "asc";
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return Before(cells[a], cells[b], ascending); });
  return order;
}

base::Status SortBy(table::Table& table, const std::string& sort) {
  if (sort.empty()) return {};
  base::Result<std::vector<size_t>> order = OrderBy(table, sort);
  if (!order.ok()) return std::move(order).error();
  table.order = *std::move(order);
  return {};
}

int64_t LimitRows(table::Table& table, int64_t limit) {
  const auto shown = static_cast<int64_t>(table.size());
  if (limit <= 0 || shown <= limit) return 0;
  if (!table.order) {
    table.order.emplace(static_cast<size_t>(limit));
    std::iota(table.order->begin(), table.order->end(), size_t{0});
  } else {
    table.order->resize(static_cast<size_t>(limit));
  }
  return shown - limit;
}

void NoteRowsLeftOut(table::Table& table, int64_t left_out) {
  if (left_out <= 0) return;
  table.notes.push_back(fmt::format("… {} more row{}; -n 0 shows all", base::FormatCount(left_out),
                                    left_out == 1 ? "" : "s"));
}

}  // namespace layerscope::analysis

#include "src/table/limit.h"

#include <fmt/format.h>

#include <numeric>
#include <optional>
#include <string>

#include "src/base/format_number.h"

namespace layerscope::table {
namespace {

/// Sum of the integer cells from shown row `first` on; nullopt when it overflows.
std::optional<int64_t> SumFrom(const Table& table, const Column& column, size_t first) {
  int64_t sum = 0;
  for (size_t i = first; i < table.size(); ++i) {
    const Cell cell = column.cell(table.RowAt(i));
    const auto* value = std::get_if<int64_t>(&cell);
    if (value != nullptr && __builtin_add_overflow(sum, *value, &sum)) return std::nullopt;
  }
  return sum;
}

std::string SumText(Unit unit, int64_t sum) {
  switch (unit) {
    case Unit::kNanoseconds:
      return base::FormatDuration(sum);
    case Unit::kBytes:
      return base::FormatBytes(sum);
    default:
      return base::FormatCount(sum);
  }
}

}  // namespace

void LimitRows(Table& table, size_t max_rows, std::string_view sum_column) {
  const size_t n = table.size();
  if (max_rows == 0 || n <= max_rows) return;

  std::string rest;
  if (const Column* column = table.Find(sum_column)) {
    const std::optional<int64_t> sum = SumFrom(table, *column, max_rows);
    if (sum) rest = fmt::format(" ({})", SumText(column->spec.unit, *sum));
  }
  const size_t left_out = n - max_rows;
  table.notes.push_back(fmt::format("… and {} more {}{}; -n 0 shows all",
                                    base::FormatCount(static_cast<int64_t>(left_out)),
                                    left_out == 1 ? "row" : "rows", rest));
  if (table.order) {
    table.order->resize(max_rows);
  } else {
    table.order.emplace(max_rows);
    std::iota(table.order->begin(), table.order->end(), size_t{0});
  }
}

}  // namespace layerscope::table

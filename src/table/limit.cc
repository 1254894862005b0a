#include "src/table/limit.h"

#include <fmt/format.h>

#include <numeric>

#include "src/base/format_number.h"

namespace layerscope::table {

int64_t LimitRows(Table& table, int64_t limit) {
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

void NoteRowsLeftOut(Table& table, int64_t left_out) {
  if (left_out <= 0) return;
  table.notes.push_back(fmt::format("… and {} more {}; -n 0 shows all", base::FormatCount(left_out),
                                    left_out == 1 ? "row" : "rows"));
}

}  // namespace layerscope::table

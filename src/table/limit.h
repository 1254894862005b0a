#pragma once

#include <cstddef>
#include <string_view>

#include "src/table/table.h"

namespace layerscope::table {

/// Keeps the first `max_rows` shown rows (0 = all) and says under the table what is left out:
/// "… and 12 more rows (3.21 ms); -n 0 shows all". The figure is the sum over the left-out rows of
/// `sum_column`; without one (or when it is unknown) it is omitted. Give no column whose rows
/// contain each other (inclusive times of a tree).
void LimitRows(Table& table, size_t max_rows, std::string_view sum_column = {});

}  // namespace layerscope::table

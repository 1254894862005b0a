#pragma once

#include <cstdint>

#include "src/table/table.h"

namespace layerscope::table {

/// Keeps the first `limit` shown rows (0 = all). Returns how many rows are left out.
int64_t LimitRows(Table& table, int64_t limit);

/// Says under the table what LimitRows left out: "… and 12 more rows; -n 0 shows all".
void NoteRowsLeftOut(Table& table, int64_t left_out);

}  // namespace layerscope::table

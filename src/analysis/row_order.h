#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/result.h"
#include "src/table/table.h"

namespace layerscope::analysis {

/// Sets the table's order by "COL" (largest first) or "COL:asc"; ties keep their order, null comes
/// last. kUsage names the columns when there is no such column or the direction is unknown.
base::Status SortBy(table::Table& table, const std::string& sort);

/// The table's rows ordered by one column: what SortBy sets, for callers that nest rows.
base::Result<std::vector<size_t>> OrderBy(const table::Table& table, const std::string& sort);

/// Shows the first `limit` rows (0 = all). Returns how many rows are left out.
int64_t LimitRows(table::Table& table, int64_t limit);

/// "… 12 more rows; -n 0 shows all" as a note when `left_out` is not 0.
void NoteRowsLeftOut(table::Table& table, int64_t left_out);

}  // namespace layerscope::analysis

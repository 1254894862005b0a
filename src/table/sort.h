#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/base/result.h"
#include "src/table/table.h"

namespace layerscope::table {

/// What `--sort COL[:asc|desc]` asks for.
struct SortKey {
  /// A column's name, the name without its unit ("wall"), or its heading in any case; "share" is
  /// the column of Role::kShare.
  std::string column;
  std::optional<bool> descending;  ///< absent: numbers descend, text ascends
};

/// Reads "COL", "COL:asc" or "COL:desc"; kUsage for an empty column or another direction.
base::Result<SortKey> ParseSortKey(std::string_view text);

/// The name without the suffix that says its unit: "wall_ns" -> "wall", "weight_bytes" -> "weight".
std::string_view WithoutUnit(std::string_view column_name);

/// Reorders the shown rows by one column. Text is in natural order ("layer 9" before "layer 10").
/// Equal rows keep their order, unknown (Null) cells stand
/// last in both directions, maps compare by the sum of their values. In a tree (`Table::depth` is
/// set) siblings are sorted and stay under their parent. Each cell is computed once. kUsage when
/// there is no such column, naming the nearest.
base::Status SortTable(Table& table, const SortKey& key);

/// What --sort does: reads the key and sorts; an empty text leaves the table as it is.
base::Status SortBy(Table& table, std::string_view sort);

}  // namespace layerscope::table

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "src/table/column.h"
#include "src/table/value.h"

namespace layerscope::table {

// What is unknown is null, in nested values and in cells: never zero and never an empty text.

Value OrNull(const std::optional<int64_t>& value);
/// Null for an empty text.
Value TextOrNull(const std::string& text);

Cell CellOrNull(const std::optional<int64_t>& value);
/// Null for an empty text, else a view of it: the text must outlive the cell.
Cell TextCellOrNull(const std::string& text);

}  // namespace layerscope::table

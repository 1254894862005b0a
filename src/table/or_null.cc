#include "src/table/or_null.h"

#include <string_view>

namespace layerscope::table {

Value OrNull(const std::optional<int64_t>& value) {
  if (!value) return Null();
  return *value;
}

Value TextOrNull(const std::string& text) {
  if (text.empty()) return Null();
  return text;
}

Cell CellOrNull(const std::optional<int64_t>& value) {
  if (!value) return Null();
  return *value;
}

Cell TextCellOrNull(const std::string& text) {
  if (text.empty()) return Null();
  return std::string_view(text);
}

}  // namespace layerscope::table

#include "src/table/result.h"

#include <utility>

#include "src/base/check.h"

namespace layerscope::table {

std::string_view ToString(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kDataLoss:
      return "data_loss";
    case Severity::kError:
      return "error";
  }
  LS_CHECK(false, "unknown severity");
}

Block TableBlock(Table table) {
  return {.kind = Block::Kind::kTable, .table = std::move(table)};
}

Block TableBlock(std::string title, Table table) {
  table.title = std::move(title);
  return TableBlock(std::move(table));
}

}  // namespace layerscope::table

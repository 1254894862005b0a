#pragma once

#include <span>
#include <string_view>

#include "src/ingest/nsys/table_scan.h"

namespace layerscope::ingest::nsys {

/// Calls `use` with each Row of a small table, if there is such a table. Rows that `use` found bad
/// are ledgered. Returns kDone, kStopped or kOutOfMemory.
template <typename Use>
Step ForEachRow(const Database& database, const Schema& schema, std::string_view table,
                std::span<const Column> columns, trace::Ledger& ledger, const Use& use) {
  if (!schema.HasTable(table)) return Step::kDone;
  const auto query = TableQuery::Build(schema, table, columns, ledger);
  if (!query) return Step::kDone;
  TableScan scan(database, *query, {}, ledger);
  while (scan.Next()) {
    use(scan.row());
    if (scan.row().bad()) scan.row().AddTo(ledger);
  }
  return scan.end();
}

}  // namespace layerscope::ingest::nsys

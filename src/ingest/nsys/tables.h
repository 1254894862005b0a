#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "src/ingest/nsys/batch.h"
#include "src/ingest/nsys/schema.h"
#include "src/ingest/nsys/table_scan.h"

namespace layerscope::ingest::nsys {

/// A table whose rows become rows of the store: its columns, and what makes one of the other. A row
/// that is bad, or whose times are out of range, adds nothing but an entry in the ledger.
struct TableReader {
  std::string_view table;
  std::span<const Column> columns;
  void (*read)(Row& row, Batch& batch);
  bool is_activity = false;  ///< rows become activities
};

/// Those that this export has, in the order in which rows that start together stand in the store.
std::vector<TableReader> TableReaders(const Schema& schema);

}  // namespace layerscope::ingest::nsys

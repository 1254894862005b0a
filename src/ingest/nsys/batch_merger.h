#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "src/ingest/nsys/batch.h"

namespace layerscope::ingest::nsys {

/// Appends batches to one large one, in the order of tables and rows, with ids of one dictionary.
class BatchMerger {
 public:
  /// Room for as many rows, so that columns do not grow by copying.
  void ReserveActivities(size_t n_rows);

  void Add(std::string_view table, const Batch& batch);
  trace::Ledger& ledger() { return all_.ledger; }
  int64_t n_rows() const { return all_.n_rows; }
  /// Rows stepped over, by table.
  const std::map<std::string, int64_t>& rows_by_table() const { return rows_by_table_; }
  /// Everything that was added.
  Batch& all() { return all_; }

 private:
  Batch all_;
  std::map<std::string, int64_t> rows_by_table_;
};

}  // namespace layerscope::ingest::nsys

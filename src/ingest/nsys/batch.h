#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "src/ingest/nsys/nvtx_rows.h"
#include "src/ingest/nsys/row_dictionary.h"
#include "src/trace/columns.h"
#include "src/trace/ledger.h"

namespace layerscope::ingest::nsys {

/// The rows of one range of one table, in the table's order, with ids of the batch's own
/// dictionary.
struct Batch {
  RowDictionary dictionary;
  trace::Activities activities;
  trace::Calls calls;
  NvtxRows nvtx;
  trace::GraphNodes graph_nodes;
  std::vector<trace::StringId> graph_node_events;  ///< what happened to each of graph_nodes
  trace::Ledger ledger;
  int64_t n_rows = 0;  ///< stepped over, used or not

  int64_t min_start_ns = std::numeric_limits<int64_t>::max();  ///< of those that are not 0
  int64_t n_start_zero = 0;
  int64_t max_end_ns = std::numeric_limits<int64_t>::min();

  void SetBounds(int64_t start_ns, int64_t dur_ns) {
    if (start_ns == 0) {
      ++n_start_zero;
    } else {
      min_start_ns = std::min(min_start_ns, start_ns);
    }
    max_end_ns = std::max(max_end_ns, start_ns + std::max<int64_t>(dur_ns, 0));
  }
};

}  // namespace layerscope::ingest::nsys

#pragma once

#include <cstdint>
#include <vector>

#include "src/ingest/nsys/nvtx_rows.h"
#include "src/ingest/nsys/row_dictionary.h"
#include "src/trace/columns.h"
#include "src/trace/ledger.h"
#include "src/trace/time_bounds.h"

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
  trace::TimeBounds bounds;
};

}  // namespace layerscope::ingest::nsys

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/ingest/nsys/database.h"
#include "src/ingest/nsys/nvtx_rows.h"
#include "src/ingest/nsys/row_dictionary.h"
#include "src/ingest/nsys/schema.h"
#include "src/trace/ledger.h"

namespace layerscope::ingest::nsys {

/// The used rows of StringIds, by RowDictionary's slot: each for what it is used for.
struct TableStrings {
  std::vector<trace::StringId> names;  ///< invalid: no such row
  /// Ranges of the default domain are kPlainRange like others are kAnnotation: the row tells.
  std::vector<std::optional<NvtxRange>> ranges;
  std::vector<uint8_t> is_node_creation;  ///< the event is that a graph's node was made
  std::vector<uint8_t> is_unknown;        ///< the file has no such row: the text stands in for it
};

/// Reads those rows of StringIds that `dictionary` names, in one pass or one by one, whichever
/// reads less, and keeps no other. Texts are interned in `dictionary`. Returns kDone, kStopped or
/// kOutOfMemory.
Step ReadTableStrings(const Database& database, const Schema& schema, RowDictionary& dictionary,
                      trace::Ledger& ledger, TableStrings& strings);

}  // namespace layerscope::ingest::nsys

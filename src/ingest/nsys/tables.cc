#include "src/ingest/nsys/tables.h"

#include "src/ingest/nsys/activity_tables.h"
#include "src/ingest/nsys/host_tables.h"

namespace layerscope::ingest::nsys {

std::vector<TableReader> TableReaders(const Schema& schema) {
  std::vector<TableReader> readers;
  for (const TableReader& reader : {KernelReader(), MemcpyReader(), MemsetReader(),
                                    GraphTraceReader(), RuntimeReader(), NvtxReader()}) {
    if (schema.HasTable(reader.table)) readers.push_back(reader);
  }
  if (schema.HasTable(kGraphNodeEvents)) {
    readers.push_back(GraphNodeReader(kGraphNodeEvents));
  } else if (schema.HasColumn(kGraphEvents, "graphNodeId")) {
    readers.push_back(GraphNodeReader(kGraphEvents));
  }
  return readers;
}

}  // namespace layerscope::ingest::nsys

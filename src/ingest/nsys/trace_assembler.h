#pragma once

#include "src/ingest/nsys/batch_merger.h"
#include "src/ingest/nsys/database.h"
#include "src/ingest/nsys/schema.h"
#include "src/trace/trace.h"

namespace layerscope::ingest::nsys {

/// Makes the trace of all rows: reads the strings and names that they use, decides what each NVTX
/// range is, brings the rows into order of time, and sets the trace's zero. `merger` is empty
/// afterwards. kCancelled when stopped.
base::Result<trace::Trace> AssembleTrace(const Database& database, const Schema& schema,
                                         BatchMerger& merger);

}  // namespace layerscope::ingest::nsys

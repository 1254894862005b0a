#pragma once

#include "src/ingest/nsys/database.h"
#include "src/ingest/nsys/schema.h"
#include "src/trace/trace.h"

namespace layerscope::ingest::nsys {

/// Fills the metadata of a trace from the tables about the export, the recording and the machine,
/// adds what the profiler itself reported to the ledger, and makes the trace's zero absolute where
/// the start of the session is known. What is absent or of no use stays empty. Returns kDone,
/// kStopped or kOutOfMemory.
Step ReadMetadata(const Database& database, const Schema& schema, trace::Trace& trace);

}  // namespace layerscope::ingest::nsys

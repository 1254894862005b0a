#pragma once

#include "src/base/result.h"
#include "src/document/trace_copy.h"
#include "src/io/byte_sink.h"

namespace layerscope::document {

/// Writes a trace that was read from a database as a Chrome trace (store_events.h): names of
/// processes, threads and streams, then the rows that `plan` keeps, by start, graph nodes behind
/// them, then what it adds. Nothing is read a second time, and memory is that of one event. Counts
/// are of rows, the names among those added. Finishes `sink`. kCancelled when stopped.
base::Result<CopyCounts> CopyStore(const CopyPlan& plan, const CopyHooks& hooks,
                                   io::ByteSink& sink);

}  // namespace layerscope::document

#pragma once

#include "src/ingest/nsys/tables.h"

namespace layerscope::ingest::nsys {

/// Readers of the tables of what ran on GPUs, whose columns do not depend on the export.
TableReader KernelReader();
TableReader MemcpyReader();
TableReader MemsetReader();
/// Whole graph launches (graph granularity).
TableReader GraphTraceReader();

}  // namespace layerscope::ingest::nsys

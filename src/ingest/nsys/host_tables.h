#pragma once

#include <string_view>

#include "src/ingest/nsys/tables.h"

namespace layerscope::ingest::nsys {

/// CUDA API calls, of the runtime and of the driver.
TableReader RuntimeReader();
/// NVTX ranges. Marks and the naming of domains, categories and threads are only counted.
TableReader NvtxReader();
/// Nodes of CUDA graphs as they were made, from the table of that name.
TableReader GraphNodeReader(std::string_view table);

}  // namespace layerscope::ingest::nsys

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/trace/trace.h"

namespace layerscope::document {

/// The GPU activities of one stream as one process writes them, in order of their starts.
struct StreamRows {
  trace::ProcessId process;
  trace::StreamId stream;
  std::vector<uint32_t> rows;  ///< by (start, file order)
};

/// All streams with one of these rows, by (process, stream).
std::vector<StreamRows> RowsByStream(const trace::Trace& trace, std::span<const uint32_t> rows);

}  // namespace layerscope::document

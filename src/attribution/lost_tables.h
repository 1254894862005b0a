#pragma once

#include <cstdint>
#include <vector>

#include "src/table/result.h"
#include "src/trace/trace.h"

namespace layerscope::attribution {

/// Tables of a database that other tables show to have been there: an export may leave them out, or
/// somebody removed or renamed them. Counts of what points to them, 0: the table is not missed.
struct LostTables {
  int64_t kernels = 0;  ///< launches of kernels that ran, in a file without a kernel
  int64_t calls = 0;    ///< activities that name the call that launched them, in one without calls
  int64_t names = 0;    ///< calls without a name, in a file that names none
};

/// All 0 for traces of PyTorch's profiler, which are one list. What a stream only recorded into a
/// graph ran nothing, and graphs recorded as a whole have no kernels.
LostTables FindLostTables(const trace::Trace& trace);

/// `lost_kernels`, `lost_calls`, `lost_names`: data loss, one entry a table.
std::vector<table::HealthEntry> LostTableWarnings(const LostTables& lost);

}  // namespace layerscope::attribution

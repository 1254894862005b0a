#pragma once

#include <vector>

#include "src/trace/trace.h"

namespace layerscope::attribution {

/// The rows of a trace without GPU work (DESIGN.md section 2), by (start, thread).
struct CpuActivities {
  trace::Activities rows;  ///< kind kCpu, no stream, no correlation; name and args of their op
  std::vector<trace::OpId> op;
  std::vector<trace::ThreadId> thread;
};

/// The maximal intervals in which an op is innermost on its thread, ending also where a module
/// scope opens or closes: an op's rows add up to its self time, the op minus its direct children on
/// the thread. An op without time of its own gives one row of 0 ns, so that every op is counted.
CpuActivities BuildCpuActivities(const trace::Trace& trace);

}  // namespace layerscope::attribution

#pragma once

#include <string>
#include <vector>

#include "src/trace/trace.h"

namespace layerscope::document {

/// By process: the pid, as JSON, that its events carry in a copy. It is the process's own, but for
/// the second and later ones of the same pid, as a database of several machines or containers has
/// them: Nsight Systems keeps 24 bits of a pid, so these are written 2^24 apart. Else they and
/// their threads would be one.
std::vector<std::string> WrittenPids(const trace::Trace& trace);

}  // namespace layerscope::document

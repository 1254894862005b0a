#pragma once

#include "src/attribution/attribution.h"
#include "src/trace/trace.h"

namespace layerscope::attribution {

/// Tells calls of modules that recorded a graph from calls that ran (ModuleTree::is_capture,
/// Module::captured_calls): nothing that was launched in it ran, and a launch was captured or a
/// node of a graph made in it, or it lies inside such a call. Where no call
/// of a module ran anything, the captures are all there is to count, and no call is told apart.
/// Needs the columns `scope` of all rows.
void MarkCapturedCalls(const trace::Trace& trace, Attribution& attribution);

}  // namespace layerscope::attribution

#pragma once

#include "src/trace/trace.h"

namespace layerscope::attribution {

/// Where a trace has no scope that names a module, its plain NVTX ranges
/// (Annotations::IsPlainRange) are what its author marked, and become scopes: `layer_3` is a call
/// of that module, and words joined by dots (`model.layers.3`) are its path. Step markers and
/// captures stay annotations. Does nothing in any other trace.
void TakePlainRanges(trace::Trace& trace);

}  // namespace layerscope::attribution

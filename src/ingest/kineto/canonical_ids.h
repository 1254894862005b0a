#pragma once

#include "src/trace/trace.h"

namespace layerscope::ingest::kineto {

/// Renumbers every id of a trace in the order in which its rows use it, drops what no row uses, and
/// strips white space from interned JSON texts. How a file was cut into slices decides in which
/// order ids are first seen; afterwards nothing of that is left.
void MakeIdsCanonical(trace::Trace& trace);

}  // namespace layerscope::ingest::kineto

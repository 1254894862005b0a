#pragma once

#include "src/trace/trace.h"

namespace layerscope::attribution {

/// Where a trace tells its modules twice, by Python's scopes (`Class_k`) and by ranges with paths
/// that a hook opened inside them, makes one of the two: the scope stays and gets the path
/// (Scopes::path), the range goes. Of a `Class_k` whose ranges right inside its scopes all have one
/// path, which stands right inside the scopes of no other one of its process, and where such a
/// range is alone in its scope: the hook encloses all that the module calls. Everything else, as
/// the range of a module that was called by `.forward()` and has no scope, stays as it is. Does
/// nothing when called again; Trace::RecordedScopes keeps the rows of the file.
void JoinModuleRanges(trace::Trace& trace);

}  // namespace layerscope::attribution

#pragma once

#include "src/attribution/module_tree.h"
#include "src/trace/trace.h"

namespace layerscope::attribution {

/// Names each module that is known by its path alone by the part below the nearest module around it
/// whose path is a prefix: "self_attn" of "model.layers.0.self_attn" in "model.layers.0". Without
/// one its name stays the whole path. Interns the names.
void NamePathModules(trace::Trace& trace, ModuleTree& tree);

}  // namespace layerscope::attribution

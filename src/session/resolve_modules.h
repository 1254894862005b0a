#pragma once

#include <optional>

#include "src/base/result.h"
#include "src/layers/layer_structure.h"
#include "src/model/model_config.h"
#include "src/session/loaded_run.h"
#include "src/session/side_files.h"

namespace layerscope::session {

/// An activity of the trace was launched by a graph launch.
bool HasReplays(const attribution::Attribution& attribution);

/// Gives the activities under a rank's graph launches their modules and its modules their paths,
/// from what `set` holds and from its layers (null: not known) and config (null: not given). What
/// was found beside the trace and used, or could not be read, is added to the attribution's
/// warnings. The error of a file that the user named and that cannot be read.
std::optional<base::Error> ResolveModules(LoadedRank& rank, const SideFileSet& set,
                                          const layers::LayerStructure* layers,
                                          const model::ModelConfig* config, SideFiles& files);

}  // namespace layerscope::session

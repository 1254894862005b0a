#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "src/base/result.h"
#include "src/session/loaded_run.h"
#include "src/session/side_files.h"

namespace layerscope::session {

/// Reads side traces one at a time, with the threads that `n_ranks` leave. `options` outlives it.
SideFiles::ReadTrace SideReader(const LoadOptions& options, size_t n_ranks);

/// Seeks passes and layers of every rank, as the run's LayerContext says. Where they cannot be
/// sought the rank says why.
base::Status FindRunLayers(const LoadOptions& options, LoadedRun& run);

/// Resolves graph replays and names modules in every rank, with its layers where it has them. The
/// traces' pools take new strings, so nobody may read them meanwhile. Errors name the side file.
base::Status ResolveRunModules(const LoadOptions& options, SideFiles& files, LoadedRun& run);

/// How many ranks --rank chooses among inside of files, those that number their processes. Where it
/// chooses a file, layers are sought as without it.
size_t CountProcessRanks(const LoadedRun& run);

/// Whether layers may change what ResolveRunModules does.
bool HasReplays(const LoadedRun& run);

}  // namespace layerscope::session

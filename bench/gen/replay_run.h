#pragma once
// Writes a whole run: capture traces, the trace that replays them, and what else tells its modules.

#include <string>

#include "bench/gen/replay_options.h"

namespace layerscope::gen {

// Files below `options.output` (README.md, "Serving runs that replay graphs"). False and `error`
// when one cannot be written.
bool WriteReplayRun(const ReplayOptions& options, std::string* error);

}  // namespace layerscope::gen

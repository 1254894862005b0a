#pragma once

#include <string>

#include "src/base/stage_clock.h"
#include "src/session/session.h"

namespace layerscope::session {

/// What --stats prints: time per stage, bytes per group of columns, events per second.
std::string StatsText(const Outcome& outcome, const base::StageClock& clock);

}  // namespace layerscope::session

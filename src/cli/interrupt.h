#pragma once

#include "src/base/stop_flag.h"

namespace layerscope::cli {

/// From now on the first Ctrl-C (SIGINT) or SIGTERM sets the flag, the second ends the process; a
/// closed pipe is an error of write and no signal.
const base::StopFlag& CatchSignals();

}  // namespace layerscope::cli

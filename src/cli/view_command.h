#pragma once

#include <string>
#include <vector>

#include "src/base/result.h"
#include "src/base/stop_flag.h"
#include "src/session/option.h"

namespace layerscope::cli {

/// `view`: opens the inputs and serves the viewer until it is told to stop, which is how it is
/// meant to end: exit 0. The address is one line of standard output, the words around it are on
/// stderr. `raw` are the options as they were given, `options` the same checked.
base::Result<int> RunView(const std::vector<std::string>& inputs, const session::RawOptions& raw,
                          const session::OptionValues& options, const base::StopFlag& stop);

}  // namespace layerscope::cli

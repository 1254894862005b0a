#pragma once

#include <string>
#include <vector>

#include "src/base/stop_flag.h"

namespace layerscope::cli {

/// The program: runs what the arguments (without the program's name) ask for, prints data on stdout
/// and everything else on stderr. Returns the exit status of CLI.md rule 2.
int RunApp(const std::vector<std::string>& arguments, const base::StopFlag& stop);

}  // namespace layerscope::cli

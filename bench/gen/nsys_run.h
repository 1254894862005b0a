#pragma once
// Plays a run on every rank and writes what the options ask for: the database, the Kineto traces,
// the truth.

#include <string>

#include "bench/gen/nsys_options.h"

namespace layerscope::gen {

// False with a message when a file cannot be written.
bool WriteNsysRun(const NsysOptions& options, std::string* error);

}  // namespace layerscope::gen

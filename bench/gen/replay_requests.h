#pragma once
// Three requests traced one by one, with request_metadata.json beside them.

#include <string>

#include "bench/gen/replay_options.h"

namespace layerscope::gen {

// The last request has an image: only there the vision tower is called.
bool WriteRequests(const ReplayOptions& options, std::string* error);

}  // namespace layerscope::gen

#pragma once

#include <cstddef>
#include <string>

#include "src/base/result.h"

namespace layerscope::server {

/// `n_bytes` of the system's randomness as hexadecimal digits. kFailed when the system has none.
base::Result<std::string> RandomToken(size_t n_bytes);

}  // namespace layerscope::server

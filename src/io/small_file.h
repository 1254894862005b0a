#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "src/base/result.h"

namespace layerscope::io {

/// The whole content of a small file ("-" = stdin; gzip and zstd are decompressed): configs, rules,
/// profiles. kInvalidInput when it cannot be read, is damaged, or is larger than `max_bytes`:
/// "PATH: too large for <what>", with the hint. A pipe is read too, so that
/// `<(command)` works, and one that nobody writes to is waited for, as by every program that opens
/// it.
base::Result<std::string> ReadSmallFile(const std::string& path, size_t max_bytes,
                                        std::string_view what, std::string_view hint);

}  // namespace layerscope::io

#pragma once

#include <cstddef>
#include <string>

namespace layerscope::session {

/// The first bytes of a file, at most `n_bytes`, unpacked: enough to tell what it is. Empty for
/// what can be read only once (standard input, pipes), or not at all.
std::string FileBegin(const std::string& path, size_t n_bytes);

}  // namespace layerscope::session

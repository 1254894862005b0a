#pragma once

#include <cstddef>
#include <functional>

namespace layerscope::session {

/// Runs `work(0)` … `work(n - 1)` on at most `threads` threads (0 = one a core). `work` reports its
/// failures itself; a thread that cannot be started leaves its share to the others.
void ForEachInParallel(size_t n, int threads, const std::function<void(size_t)>& work);

}  // namespace layerscope::session

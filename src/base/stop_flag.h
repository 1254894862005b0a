#pragma once

#include <atomic>

namespace layerscope::base {

/// Set by whoever wants a long computation to end (Ctrl-C, a closed connection); polled by it.
class StopFlag {
 public:
  void Request() noexcept { requested_.store(true, std::memory_order_relaxed); }
  bool requested() const noexcept { return requested_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> requested_{false};
};

}  // namespace layerscope::base

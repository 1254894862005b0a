#include "src/session/parallel.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace layerscope::session {

void ForEachInParallel(size_t n, int threads, const std::function<void(size_t)>& work) {
  const size_t wanted = threads > 0 ? static_cast<size_t>(threads)
                                    : std::max(1U, std::thread::hardware_concurrency());
  std::atomic<size_t> next{0};
  const auto run = [&] {
    for (size_t i = next.fetch_add(1); i < n; i = next.fetch_add(1)) work(i);
  };
  std::vector<std::thread> helpers;
  for (size_t i = 1; i < std::min(n, wanted); ++i) {
    try {
      helpers.emplace_back(run);
    } catch (const std::system_error&) {
      break;
    }
  }
  run();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace layerscope::session

#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace layerscope::server {

/// Threads that work off a queue in its order, so that what takes long holds nobody else up.
class WorkerPool {
 public:
  explicit WorkerPool(size_t n_threads);
  /// Ends as Stop does.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// `work` should not throw: what it throws is dropped, and the thread goes on.
  void Post(std::function<void()> work);
  /// Drops what has not begun and waits for what has.
  void Stop();

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace layerscope::server

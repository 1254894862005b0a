#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/server/worker_pool.h"

namespace layerscope::server {

/// The body of an HTTP answer with its status.
struct Answer {
  int status = 200;
  std::string body;
};
using SharedAnswer = std::shared_ptr<const Answer>;

/// Answers by key: the last used ones up to a number of bytes, and those that are being computed,
/// each once however many wait for it. Nobody who waits takes a thread. Safe to use from several
/// threads.
class AnswerCache {
 public:
  using Compute = std::function<Answer()>;
  using Done = std::function<void(SharedAnswer)>;

  /// `pool` outlives this, and is stopped before it goes away. `failed` is for those who wait for
  /// an answer that cannot even be made, for want of memory.
  AnswerCache(WorkerPool& pool, size_t max_bytes, Answer failed)
      : pool_(pool),
        max_bytes_(max_bytes),
        failed_(std::make_shared<const Answer>(std::move(failed))) {}

  /// The answer of that key if it is kept, else null.
  SharedAnswer Find(const std::string& key);
  /// Hands the answer to `done`: at once when it is kept, else from a thread of the pool when
  /// `compute` has it, or has thrown. Only answers of status 200 are kept. `done` may not throw.
  void Ask(const std::string& key, Compute compute, Done done);

  size_t bytes() const;

 private:
  using Entry = std::pair<std::string, SharedAnswer>;

  SharedAnswer FindLocked(const std::string& key);
  SharedAnswer AnswerOf(const Compute& compute) const;
  void Finish(const std::string& key, const SharedAnswer& answer);
  void Keep(const std::string& key, SharedAnswer answer);

  WorkerPool& pool_;
  const size_t max_bytes_;
  const SharedAnswer failed_;
  mutable std::mutex mutex_;
  size_t bytes_ = 0;
  std::list<Entry> kept_;  ///< the last used first
  std::map<std::string, std::list<Entry>::iterator, std::less<>> by_key_;
  std::map<std::string, std::vector<Done>, std::less<>> waiting_;
};

}  // namespace layerscope::server

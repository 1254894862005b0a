#include "src/server/answer_cache.h"

#include <exception>
#include <new>

namespace layerscope::server {
namespace {

size_t SizeOf(const std::string& key, const Answer& answer) {
  constexpr size_t kPerEntry = 256;
  return 2 * key.size() + answer.body.size() + kPerEntry;
}

}  // namespace

SharedAnswer AnswerCache::FindLocked(const std::string& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, found->second);
  return found->second->second;
}

SharedAnswer AnswerCache::Find(const std::string& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return FindLocked(key);
}

void AnswerCache::Ask(const std::string& key, Compute compute, Done done) {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    if (const SharedAnswer kept = FindLocked(key)) {
      lock.unlock();
      done(kept);
      return;
    }
    std::vector<Done>& waiting = waiting_[key];
    waiting.push_back(std::move(done));
    if (waiting.size() > 1) return;
  }
  try {
    pool_.Post([this, key, compute = std::move(compute)] { Finish(key, AnswerOf(compute)); });
  } catch (const std::exception&) {
    Finish(key, failed_);
  }
}

SharedAnswer AnswerCache::AnswerOf(const Compute& compute) const {
  try {
    return std::make_shared<const Answer>(compute());
  } catch (...) {
    return failed_;
  }
}

/// Whatever cannot be had, those who wait are told: the next who asks would wait with them.
void AnswerCache::Finish(const std::string& key, const SharedAnswer& answer) {
  std::vector<Done> waiting;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto found = waiting_.find(key); found != waiting_.end()) {
      waiting = std::move(found->second);
      waiting_.erase(found);
    }
    if (answer->status == 200) Keep(key, answer);
  }
  for (const Done& done : waiting) {
    try {
      done(answer);
    } catch (...) {
      // The others still wait.
    }
  }
}

void AnswerCache::Keep(const std::string& key, SharedAnswer answer) {
  const size_t size = SizeOf(key, *answer);
  if (size > max_bytes_) return;
  try {
    std::list<Entry> entry;
    entry.emplace_back(key, std::move(answer));
    by_key_[key] = entry.begin();
    kept_.splice(kept_.begin(), entry);
  } catch (const std::bad_alloc&) {
    by_key_.erase(key);
    return;
  }
  bytes_ += size;
  while (bytes_ > max_bytes_) {
    const Entry& last = kept_.back();
    bytes_ -= SizeOf(last.first, *last.second);
    by_key_.erase(last.first);
    kept_.pop_back();
  }
}

size_t AnswerCache::bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return bytes_;
}

}  // namespace layerscope::server

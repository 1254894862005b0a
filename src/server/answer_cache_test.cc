#include "src/server/answer_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <new>
#include <string>

namespace layerscope::server {
namespace {

/// Waits until so many answers have come.
class Inbox {
 public:
  AnswerCache::Done Taker() {
    return [this](SharedAnswer answer) {
      const std::lock_guard<std::mutex> lock(mutex_);
      answers_.push_back(std::move(answer));
      changed_.notify_all();
    };
  }
  std::vector<SharedAnswer> Wait(size_t n) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return answers_.size() >= n; });
    return answers_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<SharedAnswer> answers_;
};

TEST(AnswerCache, ComputesAKeyOnceForAllWhoWait) {
  WorkerPool pool(4);
  AnswerCache cache(pool, size_t{1} << 20, {500, "failed"});
  std::atomic<int> n_computed{0};
  std::mutex gate;
  gate.lock();
  Inbox inbox;
  for (int i = 0; i < 100; ++i) {
    cache.Ask(
        "key",
        [&] {
          const std::lock_guard<std::mutex> wait(gate);
          ++n_computed;
          return Answer{200, "body"};
        },
        inbox.Taker());
  }
  gate.unlock();
  for (const SharedAnswer& answer : inbox.Wait(100)) EXPECT_EQ(answer->body, "body");
  EXPECT_EQ(n_computed, 1);
  pool.Stop();
}

TEST(AnswerCache, ASlowKeyDoesNotHoldUpAnother) {
  WorkerPool pool(2);
  AnswerCache cache(pool, size_t{1} << 20, {500, "failed"});
  std::mutex gate;
  gate.lock();
  Inbox slow;
  for (int i = 0; i < 10; ++i) {
    cache.Ask(
        "slow",
        [&] {
          const std::lock_guard<std::mutex> wait(gate);
          return Answer{200, "slow"};
        },
        slow.Taker());
  }
  Inbox fast;
  cache.Ask(
      "fast",
      [] {
        return Answer{200, "fast"};
      },
      fast.Taker());
  EXPECT_EQ(fast.Wait(1)[0]->body, "fast");
  gate.unlock();
  EXPECT_EQ(slow.Wait(10).size(), 10U);
  pool.Stop();
}

TEST(AnswerCache, KeepsTheLastUsedWithinItsBytes) {
  WorkerPool pool(1);
  AnswerCache cache(pool, 10'000, {500, "failed"});
  Inbox inbox;
  const auto ask = [&](const std::string& key, size_t n) {
    cache.Ask(
        key,
        [] {
          return Answer{200, std::string(4'000, 'x')};
        },
        inbox.Taker());
    inbox.Wait(n);
  };
  ask("a", 1);
  ask("b", 2);
  EXPECT_NE(cache.Find("a"), nullptr);
  ask("c", 3);
  EXPECT_NE(cache.Find("a"), nullptr);
  EXPECT_EQ(cache.Find("b"), nullptr);
  EXPECT_LE(cache.bytes(), 10'000U);
  pool.Stop();
}

TEST(AnswerCache, KeepsNoErrors) {
  WorkerPool pool(1);
  AnswerCache cache(pool, 10'000, {500, "failed"});
  Inbox inbox;
  cache.Ask(
      "bad",
      [] {
        return Answer{400, "no"};
      },
      inbox.Taker());
  EXPECT_EQ(inbox.Wait(1)[0]->status, 400);
  EXPECT_EQ(cache.Find("bad"), nullptr);
  pool.Stop();
}

TEST(AnswerCache, WhoWaitsIsToldWhateverIsThrown) {
  WorkerPool pool(1);
  AnswerCache cache(pool, 10'000, {500, "failed"});
  Inbox inbox;
  std::mutex gate;
  gate.lock();
  const AnswerCache::Compute no_memory = [&]() -> Answer {
    const std::lock_guard<std::mutex> wait(gate);
    throw std::bad_alloc();
  };
  cache.Ask("key", no_memory, inbox.Taker());
  cache.Ask("key", no_memory, [](const SharedAnswer&) { throw std::bad_alloc(); });
  cache.Ask("key", no_memory, inbox.Taker());
  gate.unlock();
  for (const SharedAnswer& answer : inbox.Wait(2)) EXPECT_EQ(answer->body, "failed");
  // Nobody waits there any more: the next question is computed.
  cache.Ask(
      "key",
      [] {
        return Answer{200, "body"};
      },
      inbox.Taker());
  EXPECT_EQ(inbox.Wait(3).back()->body, "body");
  pool.Stop();
}

TEST(WorkerPool, GoesOnWhenWorkThrows) {
  WorkerPool pool(1);
  pool.Post([] { throw std::bad_alloc(); });
  pool.Post([] { throw 7; });
  std::promise<int> done;
  pool.Post([&] { done.set_value(1); });
  EXPECT_EQ(done.get_future().get(), 1);
}

}  // namespace
}  // namespace layerscope::server

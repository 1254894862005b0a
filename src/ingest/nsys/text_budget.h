#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace layerscope::ingest::nsys {

/// How many bytes of text may still be read from a file, for all threads and statements together.
/// In a damaged or hostile file many rows can share one long text: without this, reading it costs
/// the square of its size.
class TextBudget {
 public:
  /// Every text is read at most a few times, and UTF-16 grows to 3 bytes of UTF-8 for 2.
  explicit TextBudget(int64_t file_bytes) : left_(kPasses * file_bytes + kLeast) {}

  /// Bytes granted: at least `needed` (so that statements ask seldom), or fewer at the end.
  int64_t Take(int64_t needed) {
    const int64_t wanted = std::max(needed, kGrant);
    const int64_t before = left_.fetch_sub(wanted, std::memory_order_relaxed);
    return std::clamp<int64_t>(before, 0, wanted);
  }

 private:
  static constexpr int64_t kPasses = 8;
  static constexpr int64_t kGrant = 64 << 10;
  /// Small files pass whatever they share.
  static constexpr int64_t kLeast = 16 << 20;
  std::atomic<int64_t> left_;
};

}  // namespace layerscope::ingest::nsys

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/base/result.h"
#include "src/io/byte_source.h"

namespace layerscope::io {

/// What a decompressor reads from: a window over a raw source, refilled as it is used up. A few
/// bytes before the window stay valid, because ISA-L gives back bytes it had read ahead.
class InputBuffer {
 public:
  /// Large enough that one fill feeds several output spans, small enough to stay in L2.
  static constexpr size_t kDefaultCapacity = size_t{512} << 10;
  /// Bytes before `data()` that remain valid across a refill.
  static constexpr size_t kHeadroom = 16;

  explicit InputBuffer(std::unique_ptr<ByteSource> raw, size_t capacity = kDefaultCapacity);

  const uint8_t* data() const { return storage_.data() + begin_; }
  size_t size() const { return end_ - begin_; }
  /// Nothing buffered and nothing left in the raw source. Only known after a Refill that found
  /// none.
  bool finished() const { return raw_ended_ && begin_ == end_; }

  /// Moves the front to `position`: forward over used bytes, or back by up to kHeadroom.
  void SeekTo(const uint8_t* position) { begin_ = static_cast<size_t>(position - storage_.data()); }
  /// Reads more behind what is left; at most kHeadroom bytes may be left.
  base::Status Refill();
  /// Makes at least `count` (<= kHeadroom) bytes available, or all there are.
  base::Status Ensure(size_t count);
  /// Steps over zero bytes (tape padding); afterwards size() is 0 only at the end.
  base::Status SkipZeros();

  ByteSource& raw() { return *raw_; }
  int64_t bytes_consumed() const { return raw_->bytes_consumed() - static_cast<int64_t>(size()); }
  int64_t bytes_total() const { return raw_->bytes_total(); }

 private:
  std::unique_ptr<ByteSource> raw_;
  std::vector<uint8_t> storage_;
  size_t begin_ = kHeadroom;
  size_t end_ = kHeadroom;
  bool raw_ended_ = false;
};

}  // namespace layerscope::io

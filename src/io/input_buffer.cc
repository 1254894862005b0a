#include "src/io/input_buffer.h"

#include <cstring>
#include <span>
#include <utility>

namespace layerscope::io {

InputBuffer::InputBuffer(std::unique_ptr<ByteSource> raw, size_t capacity)
    : raw_(std::move(raw)), storage_(kHeadroom + capacity) {}

base::Status InputBuffer::Refill() {
  const size_t left = size();
  LS_CHECK(left <= kHeadroom, "refill with more left than the headroom holds");
  if (raw_ended_) return {};
  std::memmove(storage_.data(), storage_.data() + end_ - kHeadroom, kHeadroom);
  begin_ = kHeadroom - left;
  end_ = kHeadroom;
  char* const target = reinterpret_cast<char*>(storage_.data()) + kHeadroom;
  base::Result<size_t> got = raw_->Read(std::span<char>(target, storage_.size() - kHeadroom));
  if (!got.ok()) return std::move(got).error();
  end_ += *got;
  raw_ended_ = *got == 0;
  return {};
}

base::Status InputBuffer::Ensure(size_t count) {
  while (size() < count && !raw_ended_) {
    if (base::Status status = Refill(); !status.ok()) return status;
  }
  return {};
}

base::Status InputBuffer::SkipZeros() {
  for (;;) {
    while (begin_ != end_ && storage_[begin_] == 0) ++begin_;
    if (begin_ != end_ || raw_ended_) return {};
    if (base::Status status = Refill(); !status.ok()) return status;
  }
}

}  // namespace layerscope::io

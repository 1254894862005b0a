#pragma once
// Buffered output to a file or stdout. Knows how many bytes went through it.

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace layerscope::gen {

class TextSink {
 public:
  TextSink() = default;
  TextSink(const TextSink&) = delete;
  TextSink& operator=(const TextSink&) = delete;
  ~TextSink();

  // `path` "-" is stdout. False when the file cannot be made.
  bool Open(const std::string& path);

  // The tail of the buffer, for writers that append in place; call `Drain` between events.
  std::string& buffer() { return buffer_; }
  void Drain() {
    if (buffer_.size() >= kFlushBytes) Flush();
  }

  // Writes the rest and closes; false if any write failed (disk full).
  bool Finish();

  int64_t bytes() const { return written_ + static_cast<int64_t>(buffer_.size()); }

 private:
  static constexpr size_t kFlushBytes = 1 << 20;
  void Flush();

  std::FILE* file_ = nullptr;
  bool failed_ = false;
  int64_t written_ = 0;
  std::string buffer_;
};

}  // namespace layerscope::gen

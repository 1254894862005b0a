#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "src/io/byte_source.h"

namespace layerscope::tests {

/// A document in memory that is handed out in pieces of at most `piece` bytes.
class TextSource : public io::ByteSource {
 public:
  explicit TextSource(std::string text, size_t piece = std::numeric_limits<size_t>::max())
      : text_(std::move(text)), piece_(piece) {}
  base::Result<size_t> Read(std::span<char> out) override {
    const size_t n = std::min({out.size(), piece_, text_.size() - at_});
    std::copy_n(text_.data() + at_, n, out.data());
    at_ += n;
    return n;
  }
  int64_t bytes_consumed() const override { return static_cast<int64_t>(at_); }
  int64_t bytes_total() const override { return static_cast<int64_t>(text_.size()); }

 private:
  std::string text_;
  size_t piece_;
  size_t at_ = 0;
};

}  // namespace layerscope::tests

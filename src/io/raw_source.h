#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "src/base/result.h"
#include "src/io/byte_source.h"
#include "src/io/input_buffer.h"

namespace layerscope::io {

/// The bytes of a file, pipe or stdin ("-") as they are, without decompression. Same errors as
/// OpenFile.
base::Result<std::unique_ptr<ByteSource>> OpenRawFile(const std::string& path);

/// Bytes in memory as they are; `bytes` must outlive the source.
std::unique_ptr<ByteSource> OpenRawMemory(std::string_view bytes);

/// What is left in a buffer, then the rest of its raw source straight into the caller's span.
class PlainSource final : public ByteSource {
 public:
  explicit PlainSource(InputBuffer input) : input_(std::move(input)) {}

  base::Result<size_t> Read(std::span<char> out) override;
  int64_t bytes_consumed() const override { return input_.bytes_consumed(); }
  int64_t bytes_total() const override { return input_.bytes_total(); }

 private:
  InputBuffer input_;
};

}  // namespace layerscope::io

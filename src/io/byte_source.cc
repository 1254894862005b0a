#include "src/io/byte_source.h"

#include <utility>

#include "src/io/gzip_source.h"
#include "src/io/input_buffer.h"
#include "src/io/raw_source.h"
#include "src/io/zstd_source.h"

namespace layerscope::io {
namespace {

constexpr size_t kSniffBytes = 4;

/// The decompressor that the first bytes ask for.
base::Result<std::unique_ptr<ByteSource>> Decoded(std::unique_ptr<ByteSource> raw) {
  InputBuffer input(std::move(raw));
  if (base::Status status = input.Ensure(kSniffBytes); !status.ok()) {
    return std::move(status).error();
  }
  if (input.size() >= 2 && input.data()[0] == 0x1f && input.data()[1] == 0x8b) {
    return std::unique_ptr<ByteSource>(std::make_unique<GzipSource>(std::move(input)));
  }
  if (input.size() >= kSniffBytes && ZstdSource::StartsFrame(input.data())) {
    return std::unique_ptr<ByteSource>(std::make_unique<ZstdSource>(std::move(input)));
  }
  return std::unique_ptr<ByteSource>(std::make_unique<PlainSource>(std::move(input)));
}

}  // namespace

base::Result<std::unique_ptr<ByteSource>> OpenFile(const std::string& path) {
  base::Result<std::unique_ptr<ByteSource>> raw = OpenRawFile(path);
  if (!raw.ok()) return raw;
  return Decoded(std::move(raw).value());
}

std::unique_ptr<ByteSource> OpenMemory(std::string_view bytes) {
  // Memory has no I/O errors, so this cannot fail.
  return std::move(Decoded(OpenRawMemory(bytes))).value();
}

}  // namespace layerscope::io

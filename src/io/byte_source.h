#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "src/base/result.h"

namespace layerscope::io {

/// A stream of decompressed bytes, read once from front to back.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Fills the whole of `out` unless the end is reached, and returns how many bytes were written; 0
  /// only at the end (or for an empty `out`). Damaged or cut compressed data ends the stream early:
  /// what could be decompressed is delivered, and `damage()` then says what happened. An Error is a
  /// failure of the system (I/O error).
  virtual base::Result<size_t> Read(std::span<char> out) = 0;

  /// Empty, or why the compressed data ended early ("gzip member 2: invalid block type"). Known for
  /// certain once `Read` returned 0.
  virtual std::string damage() const { return {}; }
  /// Bytes of the file consumed so far (compressed).
  virtual int64_t bytes_consumed() const = 0;
  /// Bytes of the file when it was opened (compressed); -1 when unknown (stdin, pipes).
  virtual int64_t bytes_total() const = 0;
};

/// Opens a file ("-" = stdin), sees from its first bytes whether it is gzip (several members),
/// zstd (several frames) or plain, and returns the decompressed stream. kInvalidInput with a hint
/// when it does not exist, is a directory, or cannot be read. Memory stays bounded whatever the
/// data decompresses to: about 1 MiB, and up to 128 MiB for zstd frames with a window that large.
base::Result<std::unique_ptr<ByteSource>> OpenFile(const std::string& path);

/// The same over bytes in memory (tests, fuzzers); `bytes` must outlive the source.
std::unique_ptr<ByteSource> OpenMemory(std::string_view bytes);

}  // namespace layerscope::io

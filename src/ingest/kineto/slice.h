#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "src/base/result.h"
#include "src/ingest/kineto/event_parser.h"
#include "src/io/byte_source.h"

namespace layerscope::ingest::kineto {

/// A piece of the event list. Slices follow each other without gaps: `size` bytes belong to this
/// one, of which the first `parse_size` end with an event and the rest is the comma before the
/// next.
struct Slice {
  std::unique_ptr<char[]> buffer;
  size_t size = 0;
  size_t parse_size = 0;  ///< 0: no boundary was found, only joining with the next slices helps
  int64_t offset = 0;     ///< of the first byte in the decompressed document
  bool last = false;

  char* text() { return buffer.get() + EventParser::kBytesBefore; }
  std::string_view view() { return {text(), size}; }
};

/// Cuts a stream into slices of about `chunk_bytes` at the last plausible event boundary of each.
class SliceSource {
 public:
  /// `begin`: bytes already taken from `source`, which stand in front; `offset`: where they stand.
  SliceSource(io::ByteSource& source, std::string begin, int64_t offset, size_t chunk_bytes);

  /// Fills `slice`, reusing its buffer. After the slice with `last` there is no other.
  base::Status Next(Slice& slice);

 private:
  io::ByteSource& source_;
  std::string carry_;
  int64_t offset_;
  size_t chunk_bytes_;
};

}  // namespace layerscope::ingest::kineto

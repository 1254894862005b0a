#include "src/ingest/kineto/slice.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "src/ingest/kineto/boundary.h"

namespace layerscope::ingest::kineto {

SliceSource::SliceSource(io::ByteSource& source, std::string begin, int64_t offset,
                         size_t chunk_bytes)
    : source_(source),
      carry_(std::move(begin)),
      offset_(offset),
      chunk_bytes_(std::max<size_t>(chunk_bytes, 1)) {}

base::Status SliceSource::Next(Slice& slice) {
  if (slice.buffer == nullptr) {
    slice.buffer = std::make_unique<char[]>(EventParser::kBytesBefore + chunk_bytes_ +
                                            EventParser::kBytesAfter);
  }
  const size_t carried = std::min(carry_.size(), chunk_bytes_);
  std::memcpy(slice.text(), carry_.data(), carried);
  carry_.erase(0, carried);
  size_t filled = carried;
  bool ended = false;
  while (filled < chunk_bytes_ && carry_.empty() && !ended) {
    auto read = source_.Read(std::span<char>(slice.text() + filled, chunk_bytes_ - filled));
    if (!read.ok()) return std::move(read).error();
    ended = *read == 0;
    filled += *read;
  }
  slice.offset = offset_;
  slice.last = ended;
  slice.size = filled;
  slice.parse_size = ended ? filled : 0;
  if (!ended) {
    if (const auto boundary = FindLastBoundary({slice.text(), filled})) {
      slice.parse_size = boundary->end;
      slice.size = boundary->next;
      carry_.insert(0, slice.text() + boundary->next, filled - boundary->next);
    }
  }
  std::memset(slice.text() + slice.size, 0, EventParser::kBytesAfter);
  offset_ += static_cast<int64_t>(slice.size);
  return {};
}

}  // namespace layerscope::ingest::kineto

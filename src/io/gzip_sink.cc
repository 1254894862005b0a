#include "src/io/gzip_sink.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "src/base/check.h"

namespace layerscope::io {
namespace {

constexpr size_t kOutBytes = size_t{256} << 10;
// ISA-L counts input in 32 bits.
constexpr size_t kMaxPiece = size_t{1} << 30;

}  // namespace

GzipSink::GzipSink(ByteSink& below)
    : below_(below),
      stream_(std::make_unique<isal_zstream>()),
      level_buffer_(std::make_unique<unsigned char[]>(ISAL_DEF_LVL1_DEFAULT)),
      out_(kOutBytes, '\0') {
  isal_deflate_init(stream_.get());
  stream_->level = 1;
  stream_->level_buf = level_buffer_.get();
  stream_->level_buf_size = ISAL_DEF_LVL1_DEFAULT;
  stream_->gzip_flag = IGZIP_GZIP;
  stream_->flush = NO_FLUSH;
}

GzipSink::~GzipSink() = default;

base::Status GzipSink::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kMaxPiece);
    if (base::Status status = Deflate(piece, false); !status.ok()) return status;
    bytes.remove_prefix(piece.size());
  }
  return {};
}

base::Status GzipSink::Finish() {
  if (base::Status status = Deflate({}, true); !status.ok()) return status;
  return below_.Finish();
}

base::Status GzipSink::Deflate(std::string_view bytes, bool last) {
  // ISA-L takes a pointer to mutable input but never writes through it.
  stream_->next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(bytes.data()));
  stream_->avail_in = static_cast<uint32_t>(bytes.size());
  stream_->end_of_stream = last ? 1 : 0;
  do {
    stream_->next_out = reinterpret_cast<uint8_t*>(out_.data());
    stream_->avail_out = static_cast<uint32_t>(out_.size());
    LS_CHECK(isal_deflate(stream_.get()) == COMP_OK, "deflate parameters");
    const size_t written = out_.size() - stream_->avail_out;
    if (base::Status status = below_.Write(std::string_view(out_).substr(0, written));
        !status.ok()) {
      return status;
    }
  } while (stream_->avail_out == 0 || stream_->avail_in > 0);
  return {};
}

}  // namespace layerscope::io

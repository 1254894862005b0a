#include "src/io/zstd_source.h"

#include <zstd.h>

#include <string>
#include <utility>

namespace layerscope::io {
namespace {

constexpr size_t kMagicBytes = 4;

uint32_t LittleEndian32(const uint8_t* bytes) {
  return static_cast<uint32_t>(bytes[0]) | static_cast<uint32_t>(bytes[1]) << 8 |
         static_cast<uint32_t>(bytes[2]) << 16 | static_cast<uint32_t>(bytes[3]) << 24;
}

}  // namespace

bool ZstdSource::StartsFrame(const uint8_t* bytes) {
  const uint32_t magic = LittleEndian32(bytes);
  return magic == ZSTD_MAGICNUMBER ||
         (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

void ZstdSource::FreeContext::operator()(ZSTD_DCtx_s* context) const {
  ZSTD_freeDCtx(context);
}

ZstdSource::ZstdSource(InputBuffer input) : input_(std::move(input)), context_(ZSTD_createDCtx()) {}

base::Result<size_t> ZstdSource::Read(std::span<char> out) {
  size_t filled = 0;
  while (filled < out.size() && phase_ != Phase::kEnded) {
    if (phase_ == Phase::kBetweenFrames) {
      if (base::Status status = StartFrame(); !status.ok()) return std::move(status).error();
      continue;
    }
    base::Result<size_t> written = Decompress(out.subspan(filled));
    if (!written.ok()) return written;
    filled += *written;
  }
  return filled;
}

base::Status ZstdSource::StartFrame() {
  if (context_ == nullptr) {
    return base::Error{base::ErrorCode::kFailed, "no memory for a zstd decompressor", ""};
  }
  if (frame_ > 0) {
    if (base::Status status = input_.SkipZeros(); !status.ok()) return status;
  }
  if (base::Status status = input_.Ensure(kMagicBytes); !status.ok()) return status;
  if (input_.size() == 0) {
    phase_ = Phase::kEnded;
    return {};
  }
  ++frame_;
  phase_ = Phase::kInFrame;
  if (input_.size() < kMagicBytes) {
    Damage("the data ends inside its header");
  } else if (!StartsFrame(input_.data())) {
    Damage("no zstd header after the frame before it; the rest is ignored");
  }
  return {};
}

base::Result<size_t> ZstdSource::Decompress(std::span<char> out) {
  if (input_.size() == 0 && !input_.finished()) {
    if (base::Status status = input_.Refill(); !status.ok()) return std::move(status).error();
  }
  ZSTD_inBuffer from = {input_.data(), input_.size(), 0};
  ZSTD_outBuffer to = {out.data(), out.size(), 0};
  const size_t code = ZSTD_decompressStream(context_.get(), &to, &from);
  input_.SeekTo(input_.data() + from.pos);
  if (ZSTD_isError(code) != 0) {
    Damage(ZSTD_getErrorName(code));
  } else if (code == 0) {
    phase_ = Phase::kBetweenFrames;
  } else if (to.pos == 0 && from.pos == 0 && input_.finished()) {
    Damage("the data ends inside it");
  }
  return to.pos;
}

void ZstdSource::Damage(const std::string& what) {
  damage_ = "zstd frame " + std::to_string(frame_) + ", at compressed byte " +
            std::to_string(input_.bytes_consumed()) + ": " + what;
  phase_ = Phase::kEnded;
}

}  // namespace layerscope::io

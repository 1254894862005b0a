#include "src/io/gzip_source.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace layerscope::io {
namespace {

constexpr uint8_t kMagic0 = 0x1f;  // RFC 1952 section 2.3.1: ID1, ID2
constexpr uint8_t kMagic1 = 0x8b;
// ISA-L counts output in 32 bits; a larger span is filled in several calls.
constexpr size_t kMaxSpan = size_t{1} << 30;

const char* Explain(int code) {
  switch (code) {
    case ISAL_INVALID_BLOCK:
      return "invalid block type or code table";
    case ISAL_INVALID_SYMBOL:
      return "invalid symbol";
    case ISAL_INVALID_LOOKBACK:
      return "invalid distance";
    case ISAL_INVALID_WRAPPER:
      return "invalid header";
    case ISAL_UNSUPPORTED_METHOD:
      return "unknown compression method";
    case ISAL_INCORRECT_CHECKSUM:
      return "checksum mismatch";
    default:
      return "cannot be decompressed";
  }
}

}  // namespace

GzipSource::GzipSource(InputBuffer input)
    : input_(std::move(input)), state_(std::make_unique<inflate_state>()) {
  isal_inflate_init(state_.get());
}

GzipSource::~GzipSource() = default;

base::Result<size_t> GzipSource::Read(std::span<char> out) {
  size_t filled = 0;
  while (filled < out.size() && phase_ != Phase::kEnded) {
    const std::span<char> rest = out.subspan(filled);
    if (phase_ == Phase::kBetweenMembers) {
      if (base::Status status = StartMember(); !status.ok()) return std::move(status).error();
    } else if (phase_ == Phase::kDraining) {
      filled += Drain(rest);
    } else {
      base::Result<size_t> written = Inflate(rest);
      if (!written.ok()) return written;
      filled += *written;
    }
  }
  return filled;
}

base::Status GzipSource::StartMember() {
  if (member_ > 0) {
    if (base::Status status = input_.SkipZeros(); !status.ok()) return status;
  }
  if (base::Status status = input_.Ensure(2); !status.ok()) return status;
  if (input_.size() == 0) {
    phase_ = Phase::kEnded;
    return {};
  }
  ++member_;
  const bool is_gzip =
      input_.data()[0] == kMagic0 && (input_.size() < 2 || input_.data()[1] == kMagic1);
  if (!is_gzip) {
    Damage("no gzip header after the member before it; the rest is ignored");
    phase_ = Phase::kEnded;
    return {};
  }
  isal_inflate_reset(state_.get());
  state_->crc_flag = ISAL_GZIP;
  phase_ = Phase::kInMember;
  return {};
}

base::Result<size_t> GzipSource::Inflate(std::span<char> out) {
  if (input_.size() == 0 && !input_.finished()) {
    if (base::Status status = input_.Refill(); !status.ok()) return std::move(status).error();
  }
  const size_t room = std::min(out.size(), kMaxSpan);
  // ISA-L takes a pointer to mutable input but never writes through it.
  state_->next_in = const_cast<uint8_t*>(input_.data());
  state_->avail_in = static_cast<uint32_t>(input_.size());
  state_->next_out = reinterpret_cast<uint8_t*>(out.data());
  state_->avail_out = static_cast<uint32_t>(room);
  const size_t before = input_.size();
  const int code = isal_inflate(state_.get());
  const size_t written = room - state_->avail_out;
  input_.SeekTo(state_->next_in);

  if (code < 0) {
    Damage(Explain(code));
    phase_ = Phase::kDraining;
  } else if (state_->block_state == ISAL_BLOCK_FINISH) {
    phase_ = Phase::kBetweenMembers;
  } else if (written == 0 && input_.size() == before && (before != 0 || input_.finished())) {
    Damage("the data ends inside it");
    phase_ = Phase::kDraining;
  }
  return written;
}

size_t GzipSource::Drain(std::span<char> out) {
  const auto pending =
      static_cast<size_t>(std::max(0, state_->tmp_out_valid - state_->tmp_out_processed));
  const size_t count = std::min(pending, out.size());
  std::copy_n(state_->tmp_out_buffer + state_->tmp_out_processed, count, out.data());
  state_->tmp_out_processed += static_cast<int32_t>(count);
  if (count == pending) phase_ = Phase::kEnded;
  return count;
}

void GzipSource::Damage(const std::string& what) {
  damage_ = "gzip member " + std::to_string(member_) + ", at compressed byte " +
            std::to_string(input_.bytes_consumed()) + ": " + what;
}

}  // namespace layerscope::io

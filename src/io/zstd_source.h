#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "src/base/result.h"
#include "src/io/byte_source.h"
#include "src/io/input_buffer.h"

struct ZSTD_DCtx_s;

namespace layerscope::io {

/// Decompresses zstd (RFC 8878), any number of frames one after the other, skippable frames
/// included. Zeros after the last frame are padding; anything else there is damage.
class ZstdSource final : public ByteSource {
 public:
  explicit ZstdSource(InputBuffer input);

  base::Result<size_t> Read(std::span<char> out) override;
  std::string damage() const override { return damage_; }
  int64_t bytes_consumed() const override { return input_.bytes_consumed(); }
  int64_t bytes_total() const override { return input_.bytes_total(); }

  /// Whether four bytes start a zstd frame or a skippable one.
  static bool StartsFrame(const uint8_t* bytes);

 private:
  enum class Phase : uint8_t { kBetweenFrames, kInFrame, kEnded };
  struct FreeContext {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  base::Status StartFrame();
  /// Decompresses into `out` once and returns the bytes written.
  base::Result<size_t> Decompress(std::span<char> out);
  void Damage(const std::string& what);

  InputBuffer input_;
  std::unique_ptr<ZSTD_DCtx_s, FreeContext> context_;
  Phase phase_ = Phase::kBetweenFrames;
  int64_t frame_ = 0;  ///< counted from 1
  std::string damage_;
};

}  // namespace layerscope::io

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "src/base/result.h"
#include "src/io/byte_source.h"
#include "src/io/input_buffer.h"

struct inflate_state;

namespace layerscope::io {

/// Decompresses gzip (RFC 1952), any number of members one after the other, straight into the
/// caller's span. Zeros after the last member are padding; anything else there is damage.
class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(InputBuffer input);
  ~GzipSource() override;

  base::Result<size_t> Read(std::span<char> out) override;
  std::string damage() const override { return damage_; }
  int64_t bytes_consumed() const override { return input_.bytes_consumed(); }
  int64_t bytes_total() const override { return input_.bytes_total(); }

 private:
  enum class Phase : uint8_t { kBetweenMembers, kInMember, kDraining, kEnded };

  base::Status StartMember();
  /// Inflates into `out` once and returns the bytes written.
  base::Result<size_t> Inflate(std::span<char> out);
  /// Delivers what was decoded before an error but did not fit into the span of that call.
  size_t Drain(std::span<char> out);
  void Damage(const std::string& what);

  InputBuffer input_;
  std::unique_ptr<inflate_state> state_;
  Phase phase_ = Phase::kBetweenMembers;
  int64_t member_ = 0;  ///< counted from 1
  std::string damage_;
};

}  // namespace layerscope::io

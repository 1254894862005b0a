#pragma once

#include <cstdint>
#include <string_view>

namespace layerscope::ingest::kineto {

/// ts and dur are decimal microseconds of any size and notation ("123.456", "1e6", quoted); they
/// are turned into integer nanoseconds from their text, exactly, beyond three decimals rounded half
/// to even. Never through double: ts near 6e12 µs with three decimals must survive.
enum class TimeStatus : uint8_t {
  kExact,
  kRounded,     ///< had digits below a nanosecond
  kOutOfRange,  ///< outside of ±(2^62 ns - 24 h)
  kNotANumber,
};

struct DecimalTime {
  int64_t ns = 0;
  TimeStatus status = TimeStatus::kNotANumber;
};

/// `token` is JSON text of one value, quotes included where it is a string.
DecimalTime ParseMicroseconds(std::string_view token);

}  // namespace layerscope::ingest::kineto

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace layerscope::base {

/// Nanoseconds for people, four significant digits at most: "812 ns", "3.21 us", "14.6 ms", "2.5
/// s".
std::string FormatDuration(int64_t ns);
/// Bytes for people with binary units: "512 B", "1.5 MiB".
std::string FormatBytes(int64_t bytes);
/// Digits in groups of three: 1234567 -> "1,234,567".
std::string FormatCount(int64_t count);
/// A number with its noun: "1 row", "1,234 rows"; `many` where the plural is not "+s".
std::string FormatCounted(int64_t count, std::string_view one, std::string_view many = {});
/// part of whole with one decimal: "97.3 %"; "-" when the whole is zero. What is not nothing or not
/// all is not written so: "<0.1 %", ">99.9 %".
std::string FormatShare(int64_t part, int64_t whole);

/// value / 10^digits with exactly that many decimals: 1234567, 3 -> "1234.567". digits 1 to 18.
std::string FormatDecimal(int64_t value, int digits);

/// A time literal in nanoseconds: a decimal number with a unit ns, us, ms or s ("3.2ms"); without a
/// unit it is nanoseconds. Exact; nullopt when it is no such literal or does not fit.
std::optional<int64_t> ParseDuration(std::string_view text);
/// A size literal in bytes: a decimal number with a unit B, KB, MB, GB (powers of 1000) or KiB,
/// MiB, GiB, K, M, G (powers of 1024).
std::optional<int64_t> ParseBytes(std::string_view text);
/// dividend / divisor rounded half to even, as DESIGN.md section 7 asks of averages. divisor > 0.
int64_t DivideHalfEven(int64_t dividend, int64_t divisor);
/// part of whole in parts per million, rounded half to even; 0 when the whole is not positive.
int64_t PartsPerMillion(int64_t part, int64_t whole);

}  // namespace layerscope::base

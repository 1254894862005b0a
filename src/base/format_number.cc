#include "src/base/format_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "src/base/check.h"

namespace layerscope::base {
namespace {

__extension__ using Wide = __int128;

/// Three significant digits, trailing zeros kept so that columns line up.
std::string ThreeDigits(double value) {
  const double size = std::fabs(value);
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

struct Scale {
  std::string_view unit;
  int64_t factor;
};

/// number × factor, exact as long as it is an integer after scaling; decimals beyond are truncated
/// after 18 digits, which is below one nanosecond for every unit.
std::optional<int64_t> ScaleDecimal(std::string_view number, int64_t factor) {
  Wide whole = 0;
  Wide fraction = 0;
  Wide fraction_scale = 1;
  bool dot = false;
  bool digits = false;
  for (const char c : number) {
    if (c == '.' && !dot) {
      dot = true;
      continue;
    }
    if (c < '0' || c > '9') return std::nullopt;
    digits = true;
    if (!dot) {
      whole = whole * 10 + (c - '0');
      if (whole > std::numeric_limits<int64_t>::max()) return std::nullopt;
    } else if (fraction_scale < 1'000'000'000'000'000'000) {
      fraction = fraction * 10 + (c - '0');
      fraction_scale *= 10;
    }
  }
  if (!digits) return std::nullopt;
  const Wide total = whole * factor + fraction * factor / fraction_scale;
  if (total > std::numeric_limits<int64_t>::max()) return std::nullopt;
  return static_cast<int64_t>(total);
}

template <size_t N>
std::optional<int64_t> ParseScaled(std::string_view text, const std::array<Scale, N>& scales) {
  const size_t unit_at = text.find_first_not_of("0123456789.");
  const std::string_view number = text.substr(0, unit_at);
  std::string_view unit = unit_at == std::string_view::npos ? "" : text.substr(unit_at);
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  for (const Scale& scale : scales) {
    if (scale.unit == unit) return ScaleDecimal(number, scale.factor);
  }
  return std::nullopt;
}

}  // namespace

std::string FormatDuration(int64_t ns) {
  const double value = static_cast<double>(ns);
  const double size = std::fabs(value);
  if (size < 1e3) return fmt::format("{} ns", ns);
  if (size < 999.5e3) return ThreeDigits(value / 1e3) + " us";
  if (size < 999.5e6) return ThreeDigits(value / 1e6) + " ms";
  return ThreeDigits(value / 1e9) + " s";
}

std::string FormatBytes(int64_t bytes) {
  static constexpr std::array<std::string_view, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (std::fabs(value) >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  if (unit == 0) return fmt::format("{} B", bytes);
  return fmt::format("{} {}", ThreeDigits(value), kUnits[unit]);
}

std::string FormatCount(int64_t count) {
  std::string digits = fmt::format("{}", count);
  const size_t sign = count < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > sign + 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string FormatCounted(int64_t count, std::string_view one, std::string_view many) {
  if (count == 1) return fmt::format("1 {}", one);
  if (!many.empty()) return fmt::format("{} {}", FormatCount(count), many);
  return fmt::format("{} {}s", FormatCount(count), one);
}

std::string FormatShare(int64_t part, int64_t whole) {
  if (whole == 0) return "-";
  std::string text =
      fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  if (text == "0.0 %" && part > 0) return "<0.1 %";
  if (text == "100.0 %" && part < whole) return ">99.9 %";
  return text;
}

std::optional<int64_t> ParseDuration(std::string_view text) {
  static constexpr std::array<Scale, 5> kScales = {
      {{"", 1}, {"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}}};
  return ParseScaled(text, kScales);
}

std::optional<int64_t> ParseBytes(std::string_view text) {
  static constexpr std::array<Scale, 14> kScales = {{{"", 1},
                                                     {"B", 1},
                                                     {"KB", 1'000},
                                                     {"MB", 1'000'000},
                                                     {"GB", 1'000'000'000},
                                                     {"TB", 1'000'000'000'000},
                                                     {"K", int64_t{1} << 10},
                                                     {"M", int64_t{1} << 20},
                                                     {"G", int64_t{1} << 30},
                                                     {"T", int64_t{1} << 40},
                                                     {"KiB", int64_t{1} << 10},
                                                     {"MiB", int64_t{1} << 20},
                                                     {"GiB", int64_t{1} << 30},
                                                     {"TiB", int64_t{1} << 40}}};
  return ParseScaled(text, kScales);
}

std::string FormatDecimal(int64_t value, int digits) {
  LS_CHECK(digits >= 1 && digits <= 18, "decimals that fit an integer");
  uint64_t scale = 1;
  for (int i = 0; i < digits; ++i) scale *= 10;
  const bool is_negative = value < 0;
  // The smallest number has no positive counterpart of its own type.
  const uint64_t magnitude =
      is_negative ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  return fmt::format("{}{}.{:0{}}", is_negative ? "-" : "", magnitude / scale, magnitude % scale,
                     digits);
}

int64_t DivideHalfEven(int64_t dividend, int64_t divisor) {
  LS_CHECK(divisor > 0, "an average needs a positive count");
  int64_t quotient = dividend / divisor;
  int64_t rest = dividend % divisor;
  if (rest < 0) {
    rest += divisor;
    --quotient;
  }
  const int64_t to_next = divisor - rest;
  if (rest > to_next || (rest == to_next && (quotient & 1) != 0)) ++quotient;
  return quotient;
}

int64_t PartsPerMillion(int64_t part, int64_t whole) {
  if (whole <= 0) return 0;
  constexpr int64_t kMillion = 1'000'000;
  // Beyond 2^63 / 10^6 (as nanoseconds 2.6 hours) the share is taken of a millionth of both.
  constexpr int64_t kLargest = int64_t{9'000'000'000'000};
  if (part > kLargest) {
    return DivideHalfEven(part / kMillion * kMillion, std::max<int64_t>(whole / kMillion, 1));
  }
  return DivideHalfEven(part * kMillion, whole);
}

}  // namespace layerscope::base

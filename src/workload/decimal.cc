#include "src/workload/decimal.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <system_error>

namespace layerscope::workload {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

/// The exponent behind an 'e'; one that is out of every range counts as a very large one.
std::optional<int64_t> Exponent(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  int exponent = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, exponent);
  if (stop != end || problem == std::errc::invalid_argument) return std::nullopt;
  constexpr int kHuge = 1'000'000'000;
  if (problem != std::errc()) return text.starts_with('-') ? -kHuge : kHuge;
  return std::clamp(exponent, -kHuge, kHuge);
}

/// The digits of a number in one row, and the power of ten of the last of them.
struct Digits {
  std::string_view whole;
  std::string_view fraction;
  int64_t exponent = 0;  ///< of the digit before the point
  int64_t size() const { return static_cast<int64_t>(whole.size() + fraction.size()); }
  char at(int64_t i) const {
    const auto index = static_cast<size_t>(i);
    return index < whole.size() ? whole[index] : fraction[index - whole.size()];
  }
};

std::optional<Digits> Split(std::string_view text) {
  Digits digits;
  size_t at = 0;
  while (at < text.size() && IsDigit(text[at])) ++at;
  digits.whole = text.substr(0, at);
  text.remove_prefix(at);
  if (text.starts_with('.')) {
    at = 1;
    while (at < text.size() && IsDigit(text[at])) ++at;
    digits.fraction = text.substr(1, at - 1);
    text.remove_prefix(at);
  }
  if (digits.size() == 0) return std::nullopt;
  if (text.starts_with('e') || text.starts_with('E')) {
    const std::optional<int64_t> exponent = Exponent(text.substr(1));
    if (!exponent) return std::nullopt;
    digits.exponent = *exponent;
    text = {};
  }
  return text.empty() ? std::optional(digits) : std::nullopt;
}

/// Whether the digits from `first` on are more (1) or less (-1) than half of the place before them.
int AgainstHalf(const Digits& digits, int64_t first) {
  if (first < 0 || first >= digits.size()) return -1;
  if (digits.at(first) != '5') return digits.at(first) > '5' ? 1 : -1;
  for (int64_t i = first + 1; i < digits.size(); ++i) {
    if (digits.at(i) != '0') return 1;
  }
  return 0;
}

}  // namespace

std::optional<int64_t> ScaledDecimal(std::string_view text, int power) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const std::optional<Digits> digits = Split(text);
  if (!digits) return std::nullopt;
  // So many digits from the front are whole after scaling; below zero the number is tiny.
  const int64_t n_whole =
      static_cast<int64_t>(digits->whole.size()) + digits->exponent + int64_t{power};
  int64_t value = 0;
  for (int64_t i = 0; i < n_whole; ++i) {
    if (value == 0 && i >= digits->size()) break;  // all zeros, whatever the exponent
    const int digit = i < digits->size() ? digits->at(i) - '0' : 0;
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit, &value)) {
      return std::nullopt;
    }
  }
  const int half = AgainstHalf(*digits, n_whole);
  const bool up = half > 0 || (half == 0 && value % 2 != 0);
  if (up && __builtin_add_overflow(value, 1, &value)) return std::nullopt;
  return negative ? -value : value;
}

}  // namespace layerscope::workload

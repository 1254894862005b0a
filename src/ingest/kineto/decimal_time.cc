#include "src/ingest/kineto/decimal_time.h"

#include <cstddef>

#include "src/ingest/kineto/token.h"
#include "src/trace/time_bounds.h"

namespace layerscope::ingest::kineto {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

/// A decimal number in pieces: sign, all digits without the point, where the point stands in them.
struct Decimal {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  int64_t exponent = 0;
};

/// Exponents beyond this are as good as infinite: no time in range has them.
constexpr int64_t kExponentCap = 1'000'000;

bool ParseExponent(std::string_view text, int64_t& exponent) {
  bool negative = false;
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (text.empty()) return false;
  int64_t value = 0;
  for (const char c : text) {
    if (!IsDigit(c)) return false;
    if (value < kExponentCap) value = value * 10 + (c - '0');
  }
  exponent = negative ? -value : value;
  return true;
}

bool ParseDecimal(std::string_view text, Decimal& decimal) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    decimal.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  size_t at = 0;
  while (at < text.size() && IsDigit(text[at])) ++at;
  decimal.whole = text.substr(0, at);
  if (at < text.size() && text[at] == '.') {
    const size_t begin = ++at;
    while (at < text.size() && IsDigit(text[at])) ++at;
    decimal.fraction = text.substr(begin, at - begin);
  }
  if (decimal.whole.empty() && decimal.fraction.empty()) return false;
  if (at == text.size()) return true;
  if (text[at] != 'e' && text[at] != 'E') return false;
  return ParseExponent(text.substr(at + 1), decimal.exponent);
}

/// The i-th digit of whole and fraction written together; zeros beyond.
int DigitAt(const Decimal& decimal, size_t i) {
  if (i < decimal.whole.size()) return decimal.whole[i] - '0';
  i -= decimal.whole.size();
  return i < decimal.fraction.size() ? decimal.fraction[i] - '0' : 0;
}

DecimalTime Scale(const Decimal& decimal) {
  const size_t n_digits = decimal.whole.size() + decimal.fraction.size();
  const int64_t point = static_cast<int64_t>(decimal.whole.size()) + decimal.exponent + 3;
  size_t first = 0;
  while (first < n_digits && DigitAt(decimal, first) == 0) ++first;
  if (first == n_digits) return {0, TimeStatus::kExact};
  if (point - static_cast<int64_t>(first) > 19) return {0, TimeStatus::kOutOfRange};
  uint64_t whole_ns = 0;
  for (int64_t i = static_cast<int64_t>(first); i < point; ++i) {
    whole_ns = whole_ns * 10 + static_cast<uint64_t>(DigitAt(decimal, static_cast<size_t>(i)));
  }
  bool rest_after_half = false;
  int half_digit = 0;
  if (point >= 0 && static_cast<size_t>(point) < n_digits) {
    half_digit = DigitAt(decimal, static_cast<size_t>(point));
  }
  const size_t below = point < 0 ? first : static_cast<size_t>(point) + 1;
  for (size_t i = below; i < n_digits && !rest_after_half; ++i) {
    rest_after_half = DigitAt(decimal, i) != 0;
  }
  const bool exact = half_digit == 0 && !rest_after_half;
  const bool up = half_digit > 5 || (half_digit == 5 && (rest_after_half || (whole_ns & 1) != 0));
  if (up) ++whole_ns;
  if (whole_ns > static_cast<uint64_t>(trace::kMaxTimeNs)) return {0, TimeStatus::kOutOfRange};
  const auto ns = static_cast<int64_t>(whole_ns);
  return {decimal.negative ? -ns : ns, exact ? TimeStatus::kExact : TimeStatus::kRounded};
}

/// The form that nearly every token has: up to 15 digits, at most three decimals, no sign.
bool ParseCommon(std::string_view token, int64_t& ns) {
  if (token.size() > 18) return false;
  int64_t value = 0;
  size_t at = 0;
  while (at < token.size() && IsDigit(token[at])) value = value * 10 + (token[at++] - '0');
  if (at == 0 || at > 14) return false;
  if (at == token.size()) {
    ns = value * 1000;
    return true;
  }
  if (token[at] != '.') return false;
  const size_t decimals = token.size() - ++at;
  if (decimals == 0 || decimals > 3) return false;
  for (; at < token.size(); ++at) {
    if (!IsDigit(token[at])) return false;
    value = value * 10 + (token[at] - '0');
  }
  ns = decimals == 3 ? value : decimals == 2 ? value * 10 : value * 100;
  return true;
}

}  // namespace

DecimalTime ParseMicroseconds(std::string_view token) {
  int64_t ns = 0;
  if (ParseCommon(token, ns)) return {ns, TimeStatus::kExact};
  Decimal decimal;
  if (!ParseDecimal(Unquoted(token), decimal)) return {0, TimeStatus::kNotANumber};
  return Scale(decimal);
}

}  // namespace layerscope::ingest::kineto

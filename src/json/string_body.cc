#include "src/json/string_body.h"

#include <charconv>
#include <cstdint>
#include <system_error>

namespace layerscope::json {
namespace {

constexpr uint32_t kReplacement = 0xFFFD;

void AppendUtf8(uint32_t code, std::string* out) {
  const auto tail = [&](int shift) {
    out->push_back(static_cast<char>(0x80 | ((code >> shift) & 0x3F)));
  };
  if (code < 0x80) {
    out->push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out->push_back(static_cast<char>(0xC0 | code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out->push_back(static_cast<char>(0xE0 | code >> 12));
    tail(6);
    tail(0);
  } else {
    out->push_back(static_cast<char>(0xF0 | code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

/// The code unit of "\uXXXX" at the front of `text`.
std::optional<uint32_t> EscapedUnit(std::string_view text) {
  if (text.size() < 6 || text[0] != '\\' || text[1] != 'u') return std::nullopt;
  uint32_t unit = 0;
  const char* const end = text.data() + 6;
  const std::from_chars_result read = std::from_chars(text.data() + 2, end, unit, 16);
  return read.ec == std::errc() && read.ptr == end ? std::optional(unit) : std::nullopt;
}

/// Decodes the \u escape, or the pair of them, at `*at`, and moves `*at` behind it.
bool DecodeUnicode(std::string_view text, size_t* at, std::string* out) {
  const std::optional<uint32_t> first = EscapedUnit(text.substr(*at));
  if (!first) return false;
  *at += 6;
  if (*first < 0xD800 || *first > 0xDFFF) {
    AppendUtf8(*first, out);
    return true;
  }
  const std::optional<uint32_t> second = EscapedUnit(text.substr(*at));
  if (*first < 0xDC00 && second && *second >= 0xDC00 && *second <= 0xDFFF) {
    *at += 6;
    AppendUtf8(0x10000 + ((*first - 0xD800) << 10) + (*second - 0xDC00), out);
  } else {
    AppendUtf8(kReplacement, out);
  }
  return true;
}

/// What stands behind the backslash of a two-character escape, or 0 for none.
char Unescaped(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
      return c;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return '\0';
  }
}

}  // namespace

bool DecodeEscape(std::string_view text, size_t* at, std::string* out) {
  if (*at + 1 >= text.size()) return false;
  if (text[*at + 1] == 'u') return DecodeUnicode(text, at, out);
  const char c = Unescaped(text[*at + 1]);
  if (c == '\0') return false;
  out->push_back(c);
  *at += 2;
  return true;
}

std::optional<std::string> DecodeStringBody(std::string_view text) {
  std::string out;
  size_t at = 0;
  while (at < text.size() && text[at] != '"') {
    if (text[at] != '\\') {
      out.push_back(text[at++]);
    } else if (!DecodeEscape(text, &at, &out)) {
      return std::nullopt;
    }
  }
  return at < text.size() ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace layerscope::json

#include "src/json/utf8.h"

#include <cstdint>

namespace layerscope::json {
namespace {

/// Length and allowed second byte of a sequence by its first byte; length 0 = no first byte.
struct Lead {
  uint8_t length;
  uint8_t second_from;
  uint8_t second_to;
};

constexpr Lead LeadOf(uint8_t byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2) return {0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

}  // namespace

Utf8Unit FirstUtf8Unit(std::string_view text) {
  const Lead lead = LeadOf(static_cast<uint8_t>(text[0]));
  if (lead.length <= 1) return {1, lead.length == 1};
  size_t bytes = 1;
  for (; bytes < lead.length; ++bytes) {
    if (bytes == text.size()) return {bytes, false};
    const auto next = static_cast<uint8_t>(text[bytes]);
    const bool fits = bytes == 1 ? next >= lead.second_from && next <= lead.second_to
                                 : next >= 0x80 && next <= 0xBF;
    if (!fits) return {bytes, false};
  }
  return {bytes, true};
}

size_t ValidUtf8Bytes(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const Utf8Unit unit = FirstUtf8Unit(text.substr(at));
    if (!unit.valid) break;
    at += unit.bytes;
  }
  return at;
}

}  // namespace layerscope::json

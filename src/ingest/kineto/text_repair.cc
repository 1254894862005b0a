#include "src/ingest/kineto/text_repair.h"

#include <fmt/format.h>

#include <cstddef>

#include "src/ingest/kineto/token.h"
#include "src/json/utf8.h"

namespace layerscope::ingest::kineto {
namespace {

unsigned char Byte(std::string_view text, size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

}  // namespace

int64_t RepairText(std::string_view text, std::string& out) {
  out.clear();
  out.reserve(text.size() + 16);
  int64_t repairs = 0;
  bool in_string = false;
  for (size_t at = 0; at < text.size();) {
    const unsigned char byte = Byte(text, at);
    if (byte >= 0x80) {
      const json::Utf8Unit unit = json::FirstUtf8Unit(text.substr(at));
      out.append(unit.valid ? text.substr(at, unit.bytes) : std::string_view("\xEF\xBF\xBD"));
      repairs += unit.valid ? 0 : 1;
      at += unit.bytes;
      continue;
    }
    if (byte < 0x20 && in_string) {
      out += fmt::format("\\u{:04x}", byte);
      ++repairs;
    } else if (byte < 0x20 && !IsJsonSpace(text[at])) {
      out += ' ';
      ++repairs;
    } else if (byte == '\\' && at + 1 < text.size() && Byte(text, at + 1) >= 0x20 &&
               Byte(text, at + 1) < 0x80) {
      out.append(text.substr(at, 2));
      ++at;
    } else {
      if (byte == '"') in_string = !in_string;
      out += text[at];
    }
    ++at;
  }
  return repairs;
}

}  // namespace layerscope::ingest::kineto

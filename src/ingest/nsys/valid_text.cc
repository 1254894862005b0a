#include "src/ingest/nsys/valid_text.h"

#include <algorithm>
#include <iterator>

#include "src/json/utf8.h"

namespace layerscope::ingest::nsys {

std::string_view ValidText(std::string_view text, std::string& buffer, trace::Ledger& ledger) {
  const size_t valid = json::ValidUtf8Bytes(text);
  if (valid == text.size()) return text;
  ledger.Add(trace::LedgerCode::repaired_text);
  buffer.assign(text.substr(0, valid));
  text.remove_prefix(valid);
  while (!text.empty()) {
    const json::Utf8Unit unit = json::FirstUtf8Unit(text);
    buffer += unit.valid ? text.substr(0, unit.bytes) : std::string_view("\xef\xbf\xbd");
    text.remove_prefix(unit.bytes);
  }
  return buffer;
}

std::string WithoutSpaces(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::copy_if(text.begin(), text.end(), std::back_inserter(out), [](char c) { return c != ' '; });
  return out;
}

}  // namespace layerscope::ingest::nsys

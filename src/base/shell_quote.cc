#include "src/base/shell_quote.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace layerscope::base {

std::string ShellQuoted(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("/._-+=,@%:").find(static_cast<char>(c)) != std::string_view::npos ||
           c >= 0x80;
  });
  if (plain && !text.empty()) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace layerscope::base

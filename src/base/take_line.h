#pragma once

#include <string_view>

namespace layerscope::base {

/// Cuts the first line off `text` and gives it without its line feed. Of an empty text an empty
/// one.
inline std::string_view TakeLine(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

}  // namespace layerscope::base

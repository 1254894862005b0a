#pragma once

#include <string>
#include <string_view>

namespace layerscope::render {

/// Sparing ANSI colour; without it text passes as it is.
class Style {
 public:
  explicit Style(bool color) : color_(color) {}
  std::string Bold(std::string_view text) const { return Wrapped("\x1b[1m", text); }
  std::string Dim(std::string_view text) const { return Wrapped("\x1b[2m", text); }
  std::string Bar(std::string_view text) const { return Wrapped("\x1b[36m", text); }      // cyan
  std::string Warning(std::string_view text) const { return Wrapped("\x1b[33m", text); }  // yellow
  std::string Error(std::string_view text) const { return Wrapped("\x1b[31m", text); }    // red

 private:
  std::string Wrapped(std::string_view code, std::string_view text) const {
    if (!color_ || text.empty()) return std::string(text);
    return std::string(code) + std::string(text) + "\x1b[0m";
  }
  bool color_;
};

}  // namespace layerscope::render

#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace layerscope::base {

/// The number that the whole text is; nullopt for a negative one, for anything around its digits,
/// and for what does not fit.
inline std::optional<int64_t> ParseWhole(std::string_view text) {
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (text.empty() || problem != std::errc() || stop != end || number < 0) return std::nullopt;
  return number;
}

}  // namespace layerscope::base

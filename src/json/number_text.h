#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

namespace layerscope::json {

/// The value of a whole JSON number (RFC 8259 section 6): an int64_t when it has neither fraction
/// nor exponent and fits, else the nearest double (beyond its range an infinity or zero). nullopt
/// when `text` is no JSON number.
std::optional<std::variant<int64_t, double>> ParseNumber(std::string_view text);

/// Whether the whole text is a JSON number.
bool IsNumber(std::string_view text);

}  // namespace layerscope::json

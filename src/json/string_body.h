#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace layerscope::json {

/// Decodes a JSON string whose opening quote was just before `text`, up to its closing quote.
/// Escaped surrogates without their other half, which Python writes and simdjson refuses, become
/// U+FFFD. nullopt for an unknown or cut escape, or when the closing quote is missing.
std::optional<std::string> DecodeStringBody(std::string_view text);

/// Decodes the escape (or the pair of surrogate escapes) whose backslash is text[*at], appends what
/// it stands for and moves *at behind it. False, and nothing changed, for an unknown or cut escape.
bool DecodeEscape(std::string_view text, size_t* at, std::string* out);

}  // namespace layerscope::json

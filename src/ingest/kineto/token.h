#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace layerscope::ingest::kineto {

/// A token is the JSON text of one value as it stands in the file.

/// White space between JSON tokens (RFC 8259 section 2).
inline bool IsJsonSpace(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/// Without the white space behind it.
std::string_view Trimmed(std::string_view token);
/// True for a string token.
bool IsQuoted(std::string_view token);
/// The content of a string token (escapes untouched), any other token as it is.
std::string_view Unquoted(std::string_view token);
/// An integer token, a quoted one, or a decimal that is integral ("5.0"); nullopt otherwise.
std::optional<int64_t> ParseInteger(std::string_view token);

/// Resolves JSON escapes of a string's content into `out`. Escapes that JSON does not know and cut
/// ones are kept as they stand and make the result false: the text was repaired.
bool Unescape(std::string_view content, std::string& out);

/// `[ [2, 8],\n [8] ]` -> `[[2,8],[8]]`: white space outside of strings removed.
std::string WithoutSpace(std::string_view json);

}  // namespace layerscope::ingest::kineto

#pragma once

#include <string>
#include <string_view>

namespace layerscope::ingest::kineto {

/// Writes the text of one event, from `{` to its bracket, as every strict JSON reader takes it:
/// valid UTF-8 without raw control characters in strings is given (text_repair.h), and escapes that
/// are none get a second backslash, values that are none become strings, stray and missing commas
/// and colons are mended, open brackets closed. Bare NaN and Infinity, which Python writes, stay.
/// Returns false, and `out` equal to `text`, when there was nothing to mend.
bool MakeStrict(std::string_view text, std::string& out);

}  // namespace layerscope::ingest::kineto

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace layerscope::ingest::kineto {

/// Makes the text of one event acceptable to a strict JSON parser: raw control characters inside
/// strings become escapes, bytes that are no UTF-8 become U+FFFD, control characters outside of
/// strings become spaces. Returns how many places were repaired; 0 leaves `out` equal to `text`.
int64_t RepairText(std::string_view text, std::string& out);

}  // namespace layerscope::ingest::kineto

#pragma once

#include <cstddef>
#include <string_view>

namespace layerscope::json {

/// What stands at the front of a byte string: a well-formed UTF-8 sequence (Unicode 15, table 3-7),
/// or the maximal ill-formed part that one U+FFFD replaces (Unicode 15, section 3.9).
struct Utf8Unit {
  size_t bytes = 0;  ///< at least 1
  bool valid = false;
};

/// `text` must not be empty.
Utf8Unit FirstUtf8Unit(std::string_view text);

/// How many bytes from the front are well-formed UTF-8; text.size() when all are.
size_t ValidUtf8Bytes(std::string_view text);

}  // namespace layerscope::json

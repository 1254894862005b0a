#pragma once

#include <string>
#include <string_view>

#include "src/base/result.h"

namespace layerscope::json {

/// A JSON document of whatever size on one line, as strict JSON: bare NaN and infinities become
/// null, invalid UTF-8 U+FFFD, and control characters are escaped; numbers and the order of keys
/// stay as they are. kInvalidInput with the byte offset where the text is not one document. Memory:
/// that of the result.
base::Result<std::string> StrictCopy(std::string_view text);

}  // namespace layerscope::json

#pragma once

#include <string>

#include "src/json/document.h"

namespace layerscope::json {

/// A document on one line, as strict JSON: NaN and infinities become null, invalid UTF-8 U+FFFD.
std::string WriteNode(const Node& node);

}  // namespace layerscope::json

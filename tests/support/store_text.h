#pragma once

#include <string>

#include "src/trace/trace.h"

namespace layerscope::tests {

/// Everything that a trace holds, as text: two stores are the same exactly when their texts are.
std::string StoreText(const trace::Trace& trace);

}  // namespace layerscope::tests

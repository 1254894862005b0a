#pragma once

#include <string>

#include "src/table/result.h"

namespace layerscope::render {

/// A result as people read it in a terminal: the blocks of each rank, what the figures rest on
/// (coverage), and the health entries that matter. `width` = 0: no limit (piped output). Text of
/// the trace cannot move the cursor or colour anything (VisibleText).
std::string RenderTerminal(const table::Result& result, int width, bool color, bool verbose);

}  // namespace layerscope::render

#pragma once

#include <string>

#include "src/render/style.h"
#include "src/table/table.h"

namespace layerscope::render {

/// A table for a terminal of `width` cells (0 = no limit): bold heading, thin rule, rows, notes.
/// Ends with a line feed; no line has trailing spaces.
std::string RenderTerminalTable(const table::Table& table, int width, const Style& style);

}  // namespace layerscope::render

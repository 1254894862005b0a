#pragma once

#include <string>

#include "src/table/result.h"

namespace layerscope::render {

/// A result as GitHub Markdown: headings, pipe tables, lists. Names stand in code spans; other text
/// is escaped, so that nothing in a trace becomes markup.
std::string RenderMarkdown(const table::Result& result, bool verbose);

}  // namespace layerscope::render

#include "src/render/render.h"

#include "src/base/check.h"
#include "src/render/csv.h"
#include "src/render/json.h"
#include "src/render/markdown.h"
#include "src/render/terminal.h"

namespace layerscope::render {

base::Result<std::string> Render(const table::Result& result, const RenderOptions& options) {
  switch (options.format) {
    case Format::kTable:
      return RenderTerminal(result, options.width, options.color, options.verbose);
    case Format::kJson:
      return RenderJson(result);
    case Format::kCsv:
      return RenderCsv(result, options.table, options.to_terminal);
    case Format::kMarkdown:
      return RenderMarkdown(result, options.verbose);
  }
  LS_CHECK(false, "unknown format");
}

std::string RenderError(std::string_view command, const base::Error& error) {
  return RenderJsonError(command, error);
}

}  // namespace layerscope::render

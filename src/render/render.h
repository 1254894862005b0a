#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/result.h"
#include "src/table/result.h"

namespace layerscope::render {

enum class Format : uint8_t { kTable, kJson, kCsv, kMarkdown };

struct RenderOptions {
  Format format = Format::kTable;
  int width = 0;             ///< cells of a line of kTable; 0 = no limit, as for piped output
  bool color = false;        ///< ANSI colour in kTable
  bool verbose = false;      ///< also the health entries that are for information only
  bool to_terminal = false;  ///< kCsv: control characters are shown, not sent
  std::string table{};       ///< kCsv: which table; empty = the main one
};

/// The whole output of a verb, ending with a line feed. The same result and options give the same
/// bytes. kUsage for a table that the result does not have.
base::Result<std::string> Render(const table::Result& result, const RenderOptions& options);

/// The JSON envelope of a failure, for stdout when JSON was asked for.
std::string RenderError(std::string_view command, const base::Error& error);

}  // namespace layerscope::render

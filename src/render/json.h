#pragma once

#include <string>
#include <string_view>

#include "src/base/result.h"
#include "src/table/result.h"

namespace layerscope::render {

/// The version of the envelope; a breaking change of any key takes the next number.
inline constexpr std::string_view kSchema = "layerscope/1";

/// The envelope of CLI.md rule 3 with a final line feed; docs/schema describes it.
std::string RenderJson(const table::Result& result);

/// The envelope of a failure: `{"schema", "command", "error": {code, message, hint}}`.
std::string RenderJsonError(std::string_view command, const base::Error& error);

/// One value on one line.
std::string JsonText(const table::Value& value);

}  // namespace layerscope::render

#pragma once

#include <functional>
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

/// A document that is one JSON value, with a final line feed, handed to `write` in pieces: its
/// members, and objects of arrays that hold more than plain values, stand on lines of their own.
/// What `write` refuses ends it.
base::Status WriteJsonDocument(const table::Value& root,
                               const std::function<base::Status(std::string_view)>& write);

}  // namespace layerscope::render

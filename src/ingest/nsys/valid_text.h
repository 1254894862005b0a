#pragma once

#include <string>
#include <string_view>

#include "src/trace/ledger.h"

namespace layerscope::ingest::nsys {

/// The text with bytes that are no UTF-8 replaced by U+FFFD, each row so repaired counted. The
/// result is `text` itself, or a view of `buffer`.
std::string_view ValidText(std::string_view text, std::string& buffer, trace::Ledger& ledger);

/// The text without its spaces: lists are kept as a JSON writer without white space writes them.
std::string WithoutSpaces(std::string_view text);

}  // namespace layerscope::ingest::nsys

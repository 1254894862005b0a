#pragma once

#include <string>
#include <string_view>

#include "src/base/result.h"
#include "src/table/result.h"

namespace layerscope::render {

/// One table of the result as CSV: quoting of RFC 4180, lines end with a line feed, a heading of
/// the columns' names. `table_name` is a path in `data` ("devices.streams") or its last key, in any
/// case and with spaces for underscores; empty = the result's main table, or where it has none the
/// scalars of `data` as rows `key,value`. A table of that name in `reduced` goes before those of
/// the ranks, and "reduced" is the first table there. A map is one column a key
/// ("evidence.unresolved"), 0 where the row's map lacks the key; unknown is empty; a list is joined
/// by ";". Several ranks get a first column `rank` (the input's path where the rank is unknown),
/// unless the table has one. Text is the trace's own, control characters included, unless it goes
/// `to_terminal`: then fields are VisibleText. kUsage for an unknown table, naming those that there
/// are.
base::Result<std::string> RenderCsv(const table::Result& result, std::string_view table_name,
                                    bool to_terminal = false);

}  // namespace layerscope::render

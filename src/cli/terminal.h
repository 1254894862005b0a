#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "src/session/option.h"

namespace layerscope::cli {

/// How wide and whether coloured a table is printed. Piped output has no limit and no colour.
struct TerminalStyle {
  int width = 0;
  bool color = false;
};

/// From --width and --color, else from standard output: a terminal's size (COLUMNS goes first) and
/// its colours unless NO_COLOR is set or TERM is dumb. `to_file` is output that goes to -o.
TerminalStyle StyleOf(const session::OptionValues& options, bool to_file);

bool StderrIsTerminal();
bool StdoutIsTerminal();

}  // namespace layerscope::cli

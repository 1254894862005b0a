#pragma once

#include <string>

namespace layerscope::base {

/// A path or a value as a shell wants it, for commands that people paste: quoted where it needs it.
std::string ShellQuoted(const std::string& text);

}  // namespace layerscope::base

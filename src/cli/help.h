#pragma once

#include <string>

#include "src/cli/verb.h"

namespace layerscope::cli {

/// The help of the program: verbs by group.
std::string ProgramHelp();
/// The help of a verb, from its spec: usage, options, two examples.
std::string VerbHelp(const Verb& verb);
/// "layerscope 0.1.0".
std::string VersionText();

}  // namespace layerscope::cli

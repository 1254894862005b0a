#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"
#include "src/cli/verb.h"
#include "src/session/option.h"

namespace layerscope::cli {

/// What the arguments ask for.
struct CommandLine {
  enum class Action { kRun, kHelp, kVersion };
  Action action = Action::kRun;
  const Verb* verb = nullptr;  ///< null for the help of the program
  std::vector<std::string> inputs;
  session::RawOptions options;
};

/// Reads the arguments after the program's name (CLI.md): a verb, or an existing path (then the
/// verb is summary), then inputs and options in any order. kUsage suggests the nearest verb or
/// option.
base::Result<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments);

/// The verb that the arguments name, for messages; "layerscope" when there is none.
std::string CommandName(const std::vector<std::string>& arguments);

/// True when JSON is asked for, also in a command line that cannot be parsed.
bool AsksForJson(const std::vector<std::string>& arguments);

}  // namespace layerscope::cli

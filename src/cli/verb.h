#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/session/documents.h"
#include "src/session/option.h"
#include "src/session/profiles_verb.h"
#include "src/session/registry.h"
#include "src/session/view_verb.h"

namespace layerscope::cli {

/// What the command line and help know of a verb, whichever registry it stands in.
struct Verb {
  std::string name;
  std::string group;
  std::string summary;
  std::string usage;  ///< what stands between the name and the options: "INPUT…"
  std::vector<session::OptionSpec> options;         ///< its own
  std::vector<session::OptionSpec> common_options;  ///< those it shares with the others
  std::vector<std::string> examples;
  std::variant<const session::AnalysisSpec*, const session::DocumentSpec*,
               const session::ProfilesSpec*, const session::ViewSpec*>
      spec;

  std::vector<session::OptionSpec> AllOptions() const;
};

/// All verbs, in the order of help: by group, and in a group as the registries have them.
const std::vector<Verb>& Verbs();
/// Null when there is none of that name.
const Verb* FindVerb(std::string_view name);
std::vector<std::string> VerbNames();

}  // namespace layerscope::cli

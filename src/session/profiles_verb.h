#pragma once

#include <string>
#include <vector>

#include "src/base/result.h"
#include "src/session/option.h"
#include "src/session/session.h"

namespace layerscope::session {

/// The verb `profiles`, as data: it reads no trace, so it is neither an analysis nor a document.
struct ProfilesSpec {
  std::string name = "profiles";
  std::string group = "help";
  std::string summary;
  std::string usage;  ///< what stands behind the name
  std::vector<OptionSpec> options;
  /// Of CommonOptions those that say how output looks and where it goes.
  std::vector<OptionSpec> common_options;
  std::vector<std::string> examples;
};

const ProfilesSpec& Profiles();
/// Its own options and the common ones.
std::vector<OptionSpec> AllOptions(const ProfilesSpec& spec);

/// `words`: list | show NAME | infer | check FILE; `options` of AllOptions(Profiles()). kUsage for
/// other words; errors of the config or the profile name file, line and key.
base::Result<Outcome> RunProfiles(const std::vector<std::string>& words,
                                  const OptionValues& options);

}  // namespace layerscope::session

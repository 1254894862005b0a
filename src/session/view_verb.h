#pragma once

#include <string>
#include <vector>

#include "src/session/option.h"

namespace layerscope::session {

/// The verb `view`, as data: it ends when it is told to and prints no result, so it is neither an
/// analysis nor a document.
struct ViewSpec {
  std::string name = "view";
  std::string group = "show";
  std::string summary;
  std::string usage;  ///< what stands behind the name
  std::vector<OptionSpec> options;
  /// Of CommonOptions those that say what is read and how.
  std::vector<OptionSpec> common_options;
  std::vector<std::string> examples;
};

const ViewSpec& View();

}  // namespace layerscope::session

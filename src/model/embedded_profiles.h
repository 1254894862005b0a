#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace layerscope::model {

/// A file that the build put into the program.
struct EmbeddedFile {
  std::string name;  ///< "profiles/dsv3_mla.toml"
  std::string_view text;
};

/// profiles/*.toml without universal.toml, by name.
const std::vector<EmbeddedFile>& EmbeddedProfiles();

}  // namespace layerscope::model

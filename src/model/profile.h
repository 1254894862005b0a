#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"
#include "src/kernel_names/rule_set.h"
#include "src/model/model_config.h"

namespace layerscope::model {

/// One way in which a config shows that it belongs to a family. Identities of all profiles are
/// tried in rising `order`; the first that holds decides.
struct Identity {
  int64_t order = 0;
  std::vector<std::string> model_types;    ///< equals one of these, inner or outer
  std::vector<std::string> architectures;  ///< contained in an architecture, case-insensitive
  std::vector<std::string> keys;           ///< all of these keys are there and not null
  /// Keys that must be absent.
  std::vector<std::string> without_keys;
  bool any_config = false;  ///< every config
};

/// A kernel that opens a block or stands once a layer.
struct ProfileAnchor {
  std::vector<std::string>
      patterns;          ///< text or /regex/ (AnchorPattern of src/layers): any of these
  bool given = false;    ///< a candidate: used when the user gives it or the trace verifies it
  bool boundary = true;  ///< opens a block; false: period anchor, boundaries move back
  int64_t extra_per_pass = 0;  ///< anchors a whole pass has beyond layers × blocks
  /// Kernels that stand right before the anchor and still belong to the interval before it.
  std::vector<std::string> helpers_before;
};

/// How a model family's layers show in a kernel stream (formats of profiles/*.toml;
/// docs/profiles.md).
struct Profile {
  std::string name;
  std::string summary;  ///< one line: which models
  std::vector<Identity> identities;
  ProfileAnchor anchor;  ///< no patterns: the family has no anchor of its own
  int64_t blocks_per_layer = 1;
  std::vector<std::string> block_names;   ///< "attention", "ffn"; blocks_per_layer entries or none
  std::vector<kernel_names::Rule> rules;  ///< categories that come before the universal ones
};

/// Reads a profile (TOML). kUsage names file, line and key of a mistake.
base::Result<Profile> ParseProfile(std::string_view toml, const std::string& file_name);

/// The profiles built in from profiles/*.toml (universal.toml is rules only), by name.
const std::vector<Profile>& BuiltInProfiles();

/// A built-in profile of that name, else the file of that path. kUsage suggests the nearest name.
base::Result<Profile> LoadProfile(const std::string& name_or_path);

struct ProfileChoice {
  const Profile* profile = nullptr;  ///< of BuiltInProfiles(); never null
  std::string why;                   ///< "model_type deepseek_v4", "no config was given"
};

/// The profile of a config by the identities' order; `generic` when `config` is null.
ProfileChoice ChooseProfile(const ModelConfig* config);

}  // namespace layerscope::model

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"
#include "src/kernel_names/rule_set.h"
#include "src/model/model_config.h"

namespace layerscope::model {

/// One way in which a config shows that it belongs to a family: every condition that is stated
/// holds. Identities of all profiles are tried in rising `order`; the first that holds decides.
struct Identity {
  int64_t order = 0;
  std::vector<std::string> model_types;  ///< the inner or outer model_type is one of these
  /// One of these is part of an architecture's name, ASCII case aside. Beside `model_types` they
  /// decide only where the config's model types are strangers, named by no profile.
  std::vector<std::string> architectures;
  std::vector<std::string> keys;          ///< all of these keys are there and not null
  std::vector<std::string> without_keys;  ///< none of these is
  bool any_config = false;                ///< every config
  std::string note;                       ///< ends the sentence that says why
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
  std::string note;  ///< for people: what the patterns stand for, or why there are none
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

/// A profile file larger than this is refused: something else was given.
inline constexpr size_t kMaxProfileBytes = size_t{1} << 20;

/// Reads a profile (TOML, docs/profiles.md). kUsage names file, line and key of a mistake and the
/// nearest key; patterns are checked too.
base::Result<Profile> ParseProfile(std::string_view toml, const std::string& file_name);

/// The profiles built in from profiles/*.toml (universal.toml is rules only), by name.
const std::vector<Profile>& BuiltInProfiles();
/// The built-in one of that name, or null.
const Profile* FindBuiltInProfile(std::string_view name);

/// A built-in profile of that name, else the file of that path. kUsage suggests the nearest name;
/// kInvalidInput when the file cannot be read.
base::Result<Profile> LoadProfile(const std::string& name_or_path);
/// The file of that path, whatever its name.
base::Result<Profile> LoadProfileFile(const std::string& path);

struct ProfileChoice {
  const Profile* profile = nullptr;  ///< of BuiltInProfiles(); never null
  std::string why;                   ///< "model_type is deepseek_v4", "no config was given"
};

/// The profile of a config by the identities' order; `generic` when `config` is null.
ProfileChoice ChooseProfile(const ModelConfig* config);

}  // namespace layerscope::model

#include "src/model/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "src/base/check.h"
#include "src/base/nearest.h"
#include "src/io/small_file.h"
#include "src/kernel_names/pattern.h"
#include "src/model/embedded_profiles.h"
#include "src/model/toml_fields.h"

namespace layerscope::model {
namespace {

constexpr std::string_view kFormatHint = "docs/profiles.md describes the format";
constexpr int64_t kMaxBlocks = 16;
constexpr int64_t kMaxExtraAnchors = 1000;
constexpr int64_t kMaxOrder = 1'000'000;
constexpr size_t kMaxNameBytes = 64;

/// Reads one file; the first mistake stops it.
class ProfileReader {
 public:
  explicit ProfileReader(const std::string& file_name)
      : fields_(file_name, std::string(kFormatHint)) {}

  base::Result<Profile> Read(std::string_view toml) {
    const base::Result<toml::table> root = fields_.Parse(toml);
    if (!root.ok()) return root.error();
    for (const auto& [key, value] : *root) {
      base::Status status = ReadKey(key.str(), value);
      if (!status.ok()) return std::move(status).error();
    }
    base::Status whole = CheckWhole(*root);
    if (!whole.ok()) return std::move(whole).error();
    return std::move(profile_);
  }

 private:
  base::Status ReadKey(std::string_view key, const toml::node& value) {
    if (key == "name") return ReadName(value);
    if (key == "summary") return fields_.ReadText(key, value, profile_.summary);
    if (key == "anchor") {
      return ReadTable(key, value, [&](auto... pair) { return ReadAnchorKey(pair...); });
    }
    if (key == "blocks") {
      return ReadTable(key, value, [&](auto... pair) { return ReadBlocksKey(pair...); });
    }
    if (key == "identity") {
      return fields_.ReadTables(key, value, [&](const auto& table) { return ReadIdentity(table); });
    }
    if (key == "rule") {
      return fields_.ReadTables(key, value, [&](const auto& table) { return ReadRule(table); });
    }
    static const std::array<std::string, 6> kKeys = {"name",   "summary",  "anchor",
                                                     "blocks", "identity", "rule"};
    return fields_.UnknownKey(value, key, "a profile", kKeys);
  }

  base::Status ReadName(const toml::node& value) {
    base::Status status = fields_.ReadText("name", value, profile_.name);
    if (!status.ok()) return status;
    const auto is_plain = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    };
    const std::string& name = profile_.name;
    if (!name.empty() && name.size() <= kMaxNameBytes &&
        std::all_of(name.begin(), name.end(), is_plain)) {
      return {};
    }
    return fields_.Mistake(value,
                           fmt::format("'name' must be 1 to {} of a-z, 0-9 and _", kMaxNameBytes));
  }

  template <typename ReadPair>
  base::Status ReadTable(std::string_view key, const toml::node& value, ReadPair read) {
    const toml::table* const table = value.as_table();
    if (table == nullptr) {
      return fields_.Mistake(value, fmt::format("'{}' must be a table: [{}]", key, key));
    }
    for (const auto& [inner, node] : *table) {
      base::Status status = read(inner.str(), &node);
      if (!status.ok()) return status;
    }
    return {};
  }

  base::Status ReadAnchorKey(std::string_view key, const toml::node* value) {
    ProfileAnchor& anchor = profile_.anchor;
    if (key == "patterns") return ReadPatterns(key, *value, anchor.patterns);
    if (key == "given") return fields_.ReadFlag(key, *value, anchor.given);
    if (key == "boundary") return fields_.ReadFlag(key, *value, anchor.boundary);
    if (key == "extra_per_pass") {
      return fields_.ReadNumber(key, *value, 0, kMaxExtraAnchors, anchor.extra_per_pass);
    }
    if (key == "helpers_before") return ReadPatterns(key, *value, anchor.helpers_before);
    if (key == "note") return fields_.ReadText(key, *value, anchor.note);
    static const std::array<std::string, 6> kKeys = {"patterns",       "given",          "boundary",
                                                     "extra_per_pass", "helpers_before", "note"};
    return fields_.UnknownKey(*value, key, "[anchor]", kKeys);
  }

  base::Status ReadBlocksKey(std::string_view key, const toml::node* value) {
    if (key == "per_layer") {
      return fields_.ReadNumber(key, *value, 1, kMaxBlocks, profile_.blocks_per_layer);
    }
    if (key == "names") return fields_.ReadList(key, *value, profile_.block_names);
    static const std::array<std::string, 2> kKeys = {"per_layer", "names"};
    return fields_.UnknownKey(*value, key, "[blocks]", kKeys);
  }

  base::Status ReadPatterns(std::string_view key, const toml::node& value,
                            std::vector<std::string>& patterns) {
    base::Status status = fields_.ReadList(key, value, patterns);
    if (!status.ok()) return status;
    for (const std::string& text : patterns) {
      const auto pattern = kernel_names::Pattern::Compile(text, false);
      if (pattern.ok()) continue;
      return fields_.Mistake(value, fmt::format("'{}': {}", key, pattern.error().message));
    }
    return {};
  }

  base::Status ReadIdentity(const toml::table& table) {
    Identity identity;
    for (const auto& [key, value] : table) {
      base::Status status = ReadIdentityKey(key.str(), value, identity);
      if (!status.ok()) return status;
    }
    if (identity.order == 0) return fields_.Mistake(table, "an identity needs an 'order'");
    if (identity.model_types.empty() && identity.architectures.empty() && identity.keys.empty() &&
        !identity.any_config) {
      return fields_.Mistake(
          table, "an identity needs 'model_types', 'architectures', 'keys' or 'any_config'");
    }
    profile_.identities.push_back(std::move(identity));
    return {};
  }

  base::Status ReadIdentityKey(std::string_view key, const toml::node& value, Identity& identity) {
    if (key == "order") return fields_.ReadNumber(key, value, 1, kMaxOrder, identity.order);
    if (key == "model_types") return fields_.ReadList(key, value, identity.model_types);
    if (key == "architectures") return fields_.ReadList(key, value, identity.architectures);
    if (key == "keys") return fields_.ReadList(key, value, identity.keys);
    if (key == "without_keys") return fields_.ReadList(key, value, identity.without_keys);
    if (key == "any_config") return fields_.ReadFlag(key, value, identity.any_config);
    if (key == "note") return fields_.ReadText(key, value, identity.note);
    static const std::array<std::string, 7> kKeys = {
        "order", "model_types", "architectures", "keys", "without_keys", "any_config", "note"};
    return fields_.UnknownKey(value, key, "an identity", kKeys);
  }

  base::Status ReadRule(const toml::table& table) {
    base::Result<kernel_names::Rule> rule = fields_.ReadRule(table);
    if (!rule.ok()) return std::move(rule).error();
    profile_.rules.push_back(*std::move(rule));
    return {};
  }

  base::Status CheckWhole(const toml::table& root) {
    if (profile_.name.empty()) return fields_.Mistake(root, "a profile needs a 'name'");
    const size_t n_names = profile_.block_names.size();
    if (n_names != 0 && n_names != static_cast<size_t>(profile_.blocks_per_layer)) {
      return fields_.Mistake(*root.get("blocks"),
                             fmt::format("'names' has {} entries for {} blocks a layer", n_names,
                                         profile_.blocks_per_layer));
    }
    return {};
  }

  TomlFields fields_;
  Profile profile_;
};

std::vector<std::string> BuiltInNames() {
  std::vector<std::string> names;
  for (const Profile& profile : BuiltInProfiles()) names.push_back(profile.name);
  return names;
}

std::vector<Profile> ParseBuiltIn() {
  std::vector<Profile> profiles;
  for (const EmbeddedFile& file : EmbeddedProfiles()) {
    base::Result<Profile> profile = ParseProfile(file.text, file.name);
    LS_CHECK(profile.ok(), "a profile that was built in does not parse");
    profiles.push_back(*std::move(profile));
  }
  std::sort(profiles.begin(), profiles.end(),
            [](const Profile& a, const Profile& b) { return a.name < b.name; });
  return profiles;
}

}  // namespace

base::Result<Profile> ParseProfile(std::string_view toml, const std::string& file_name) {
  return ProfileReader(file_name).Read(toml);
}

const std::vector<Profile>& BuiltInProfiles() {
  static const std::vector<Profile> kProfiles = ParseBuiltIn();
  return kProfiles;
}

const Profile* FindBuiltInProfile(std::string_view name) {
  for (const Profile& profile : BuiltInProfiles()) {
    if (profile.name == name) return &profile;
  }
  return nullptr;
}

base::Result<Profile> LoadProfileFile(const std::string& path) {
  base::Result<std::string> text =
      io::ReadSmallFile(path, kMaxProfileBytes, "a profile", kFormatHint);
  if (!text.ok()) return std::move(text).error();
  return ParseProfile(*text, path);
}

base::Result<Profile> LoadProfile(const std::string& name_or_path) {
  if (const Profile* const profile = FindBuiltInProfile(name_or_path)) return *profile;
  std::error_code ignored;
  if (std::filesystem::exists(name_or_path, ignored)) return LoadProfileFile(name_or_path);
  return base::Error{base::ErrorCode::kUsage,
                     fmt::format("no profile or file '{}'{}", name_or_path,
                                 base::DidYouMean(name_or_path, BuiltInNames())),
                     "`layerscope profiles list` shows the profiles that are built in"};
}

}  // namespace layerscope::model

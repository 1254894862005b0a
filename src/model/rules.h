#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"
#include "src/kernel_names/rule_set.h"

namespace layerscope::model {

struct Profile;

/// A rules file larger than this is refused: something else was given.
inline constexpr size_t kMaxRulesBytes = size_t{4} << 20;

/// Reads a rules file (TOML, docs/rules.md): `[[rule]] category = "…" group = "…" match = […]
/// also = […] unless = […] ignore_case = true full_name = true`. kUsage names file, line and key of
/// a mistake; patterns are checked too.
base::Result<std::vector<kernel_names::Rule>> ParseRules(std::string_view toml,
                                                         const std::string& file_name);

/// The universal rules built in from profiles/universal.toml.
std::string_view UniversalRulesToml();

/// The rules of `--rules FILE` (may be empty), then those of the profile in use (may be null), then
/// the universal ones. kInvalidInput when the file cannot be read, kUsage when it holds a mistake.
base::Result<kernel_names::RuleSet> LoadRuleSet(const std::string& rules_path,
                                                const Profile* profile = nullptr);

}  // namespace layerscope::model

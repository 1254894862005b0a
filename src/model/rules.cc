#include "src/model/rules.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "src/base/check.h"
#include "src/io/small_file.h"
#include "src/model/profile.h"
#include "src/model/toml_fields.h"

namespace layerscope::model {
namespace {

using kernel_names::Rule;
using kernel_names::RuleSet;

constexpr std::string_view kFormatHint = "docs/rules.md describes the format";

}  // namespace

base::Result<std::vector<Rule>> ParseRules(std::string_view toml, const std::string& file_name) {
  const TomlFields fields(file_name, std::string(kFormatHint));
  const base::Result<toml::table> root = fields.Parse(toml);
  if (!root.ok()) return root.error();
  std::vector<Rule> rules;
  for (const auto& [key, value] : *root) {
    if (key.str() != "rule" || !value.is_array()) {
      return fields.Mistake(
          value, fmt::format("'{}' does not belong into a rules file, [[rule]] does", key.str()));
    }
    base::Status read =
        fields.ReadTables("rule", value, [&](const toml::table& table) -> base::Status {
          base::Result<Rule> rule = fields.ReadRule(table);
          if (!rule.ok()) return std::move(rule).error();
          rules.push_back(*std::move(rule));
          return {};
        });
    if (!read.ok()) return std::move(read).error();
  }
  return rules;
}

base::Result<RuleSet> LoadRuleSet(const std::string& rules_path, const Profile* profile) {
  std::vector<Rule> rules;
  if (!rules_path.empty()) {
    base::Result<std::string> text =
        io::ReadSmallFile(rules_path, kMaxRulesBytes, "a rules file", kFormatHint);
    if (!text.ok()) return std::move(text).error().WithContext("reading --rules");
    base::Result<std::vector<Rule>> own = ParseRules(*text, rules_path);
    if (!own.ok()) return std::move(own).error();
    rules = *std::move(own);
  }
  if (profile != nullptr) {
    rules.insert(rules.end(), profile->rules.begin(), profile->rules.end());
  }
  base::Result<std::vector<Rule>> universal =
      ParseRules(UniversalRulesToml(), "profiles/universal.toml");
  LS_CHECK(universal.ok(), "the embedded universal rules do not parse");
  std::move(universal->begin(), universal->end(), std::back_inserter(rules));
  return RuleSet::Build(std::move(rules));
}

}  // namespace layerscope::model

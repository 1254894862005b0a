#include "src/model/rules.h"

#include <fmt/format.h>

// toml++ 3.3 asserts on some invalid documents ("[[[") before it reports them; a user's file must
// never end the program.
#define TOML_ASSERT(expr) static_cast<void>(0)
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "src/base/check.h"
#include "src/base/nearest.h"
#include "src/io/byte_source.h"

namespace layerscope::model {
namespace {

using kernel_names::Rule;
using kernel_names::RuleSet;

constexpr std::string_view kFormatHint = "docs/rules.md describes the format";

base::Error Mistake(const std::string& file_name, const toml::source_region& where,
                    std::string_view what) {
  return {base::ErrorCode::kUsage, fmt::format("{}:{}: {}", file_name, where.begin.line, what),
          std::string(kFormatHint)};
}

/// Reads one [[rule]] table; the first mistake stops it.
class RuleReader {
 public:
  RuleReader(const toml::table& table, const std::string& file_name)
      : table_(table), file_name_(file_name) {}

  base::Result<Rule> Read() {
    Rule rule;
    for (const auto& [key, value] : table_) {
      base::Status status = ReadKey(key.str(), value, rule);
      if (!status.ok()) return std::move(status).error();
    }
    base::Result<RuleSet> alone = RuleSet::Build({rule});
    if (!alone.ok()) return Located(alone.error());
    return rule;
  }

 private:
  base::Status ReadKey(std::string_view key, const toml::node& value, Rule& rule) {
    if (key == "category") return ReadText(key, value, rule.category);
    if (key == "group") return ReadText(key, value, rule.group);
    if (key == "match") return ReadList(key, value, rule.patterns);
    if (key == "also") return ReadList(key, value, rule.also);
    if (key == "unless") return ReadList(key, value, rule.unless);
    if (key == "ignore_case") return ReadFlag(key, value, rule.ignore_case);
    if (key == "full_name") return ReadFlag(key, value, rule.full_name);
    static const std::array<std::string, 7> kKeys = {"category", "group",       "match",    "also",
                                                     "unless",   "ignore_case", "full_name"};
    return Mistake(file_name_, value.source(),
                   fmt::format("no key '{}' in a rule{}", key, base::DidYouMean(key, kKeys)));
  }

  base::Status ReadText(std::string_view key, const toml::node& value, std::string& text) {
    const toml::value<std::string>* const string = value.as_string();
    if (string == nullptr) return WrongKind(key, value, "a string");
    text = string->get();
    return {};
  }

  base::Status ReadFlag(std::string_view key, const toml::node& value, bool& flag) {
    const toml::value<bool>* const boolean = value.as_boolean();
    if (boolean == nullptr) return WrongKind(key, value, "true or false");
    flag = boolean->get();
    return {};
  }

  base::Status ReadList(std::string_view key, const toml::node& value,
                        std::vector<std::string>& list) {
    const toml::array* const array = value.as_array();
    if (array == nullptr) return WrongKind(key, value, "a list of strings");
    for (const toml::node& item : *array) {
      std::string text;
      base::Status status = ReadText(key, item, text);
      if (!status.ok()) return status;
      list.push_back(std::move(text));
    }
    return {};
  }

  base::Error WrongKind(std::string_view key, const toml::node& value, std::string_view wanted) {
    return Mistake(file_name_, value.source(), fmt::format("'{}' must hold {}", key, wanted));
  }

  base::Error Located(const base::Error& error) {
    // Build counts from the rules given to it; the line says more.
    constexpr std::string_view kCounted = "rule 1 ";
    std::string what = error.message;
    if (what.starts_with(kCounted)) what = "rule " + what.substr(kCounted.size());
    return {error.code, fmt::format("{}:{}: {}", file_name_, table_.source().begin.line, what),
            error.hint.empty() ? std::string(kFormatHint) : error.hint};
  }

  const toml::table& table_;
  const std::string& file_name_;
};

base::Result<std::string> ReadWhole(const std::string& path) {
  base::Result<std::unique_ptr<io::ByteSource>> source = io::OpenFile(path);
  if (!source.ok()) return std::move(source).error();
  std::string text;
  std::array<char, 16384> block;
  for (;;) {
    base::Result<size_t> read = (*source)->Read(block);
    if (!read.ok()) return std::move(read).error();
    if (*read == 0) return text;
    text.append(block.data(), *read);
    if (text.size() > kMaxRulesBytes) {
      return base::Error{base::ErrorCode::kInvalidInput, path + ": too large for a rules file",
                         std::string(kFormatHint)};
    }
  }
}

}  // namespace

base::Result<std::vector<Rule>> ParseRules(std::string_view toml, const std::string& file_name) {
  const toml::parse_result parsed = toml::parse(toml);
  if (!parsed) {
    return Mistake(file_name, parsed.error().source(), parsed.error().description());
  }
  std::vector<Rule> rules;
  for (const auto& [key, value] : parsed.table()) {
    const toml::array* const tables = value.as_array();
    if (key.str() != "rule" || tables == nullptr) {
      return Mistake(
          file_name, value.source(),
          fmt::format("'{}' does not belong into a rules file, [[rule]] does", key.str()));
    }
    for (const toml::node& node : *tables) {
      const toml::table* const table = node.as_table();
      if (table == nullptr) return Mistake(file_name, node.source(), "a rule is a table: [[rule]]");
      base::Result<Rule> rule = RuleReader(*table, file_name).Read();
      if (!rule.ok()) return std::move(rule).error();
      rules.push_back(*std::move(rule));
    }
  }
  return rules;
}

base::Result<RuleSet> LoadRuleSet(const std::string& rules_path) {
  std::vector<Rule> rules;
  if (!rules_path.empty()) {
    base::Result<std::string> text = ReadWhole(rules_path);
    if (!text.ok()) return std::move(text).error().WithContext("reading --rules");
    base::Result<std::vector<Rule>> own = ParseRules(*text, rules_path);
    if (!own.ok()) return std::move(own).error();
    rules = *std::move(own);
  }
  base::Result<std::vector<Rule>> universal =
      ParseRules(UniversalRulesToml(), "profiles/universal.toml");
  LS_CHECK(universal.ok(), "the embedded universal rules do not parse");
  std::move(universal->begin(), universal->end(), std::back_inserter(rules));
  return RuleSet::Build(std::move(rules));
}

}  // namespace layerscope::model

#include "src/model/toml_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "src/base/nearest.h"

namespace layerscope::model {

using kernel_names::Rule;
using kernel_names::RuleSet;

namespace {

/// Walks over a TOML text and says where a character beyond ASCII stands outside texts and
/// comments. No TOML has one there, and toml++ 3.3 runs into undefined behaviour over some of them
/// (its whitespace test of U+FEF3), so they never reach it.
class StrayCharacterSearch {
 public:
  explicit StrayCharacterSearch(std::string_view text) : text_(text) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  }

  /// The line, counted from 1; 0 when there is none.
  toml::source_index Line() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (static_cast<unsigned char>(c) >= 0x80) return LineAt();
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '"' || c == '\'') {
        SkipText(c);
      } else {
        ++at_;
      }
    }
    return 0;
  }

 private:
  void SkipText(char quote) {
    const std::string three(3, quote);
    const bool is_long = text_.substr(at_, 3) == three;
    at_ += is_long ? 3 : 1;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\\' && quote == '"') {
        ++at_;
      } else if (is_long && text_.substr(at_, 3) == three) {
        at_ += 3;
        while (at_ < text_.size() && text_[at_] == quote) ++at_;  // up to two belong to the text
        return;
      } else if (!is_long && c == quote) {
        ++at_;
        return;
      } else if (!is_long && (c == '\n' || c == '\r')) {
        at_ = text_.size();  // the parser stops here with a mistake
        return;
      }
    }
  }

  toml::source_index LineAt() const {
    return static_cast<toml::source_index>(
        1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n'));
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

base::Result<toml::table> TomlFields::Parse(std::string_view text) const {
  if (const toml::source_index line = StrayCharacterSearch(text).Line(); line != 0) {
    toml::source_region where;
    where.begin.line = line;
    return Mistake(where, "a character that is not ASCII stands outside of quotes and comments");
  }
  toml::parse_result parsed = toml::parse(text);
  if (!parsed) return Mistake(parsed.error().source(), parsed.error().description());
  return std::move(parsed).table();
}

base::Error TomlFields::Mistake(const toml::source_region& where, std::string_view what) const {
  return {base::ErrorCode::kUsage, fmt::format("{}:{}: {}", file_name_, where.begin.line, what),
          format_hint_};
}

base::Error TomlFields::Mistake(const toml::node& where, std::string_view what) const {
  return Mistake(where.source(), what);
}

base::Error TomlFields::UnknownKey(const toml::node& where, std::string_view key,
                                   std::string_view owner,
                                   std::span<const std::string> known) const {
  return Mistake(where,
                 fmt::format("no key '{}' in {}{}", key, owner, base::DidYouMean(key, known)));
}

base::Error TomlFields::WrongKind(std::string_view key, const toml::node& value,
                                  std::string_view wanted) const {
  return Mistake(value, fmt::format("'{}' must hold {}", key, wanted));
}

base::Status TomlFields::ReadText(std::string_view key, const toml::node& value,
                                  std::string& text) const {
  const toml::value<std::string>* const string = value.as_string();
  if (string == nullptr) return WrongKind(key, value, "a string");
  text = string->get();
  return {};
}

base::Status TomlFields::ReadFlag(std::string_view key, const toml::node& value, bool& flag) const {
  const toml::value<bool>* const boolean = value.as_boolean();
  if (boolean == nullptr) return WrongKind(key, value, "true or false");
  flag = boolean->get();
  return {};
}

base::Status TomlFields::ReadNumber(std::string_view key, const toml::node& value, int64_t min,
                                    int64_t max, int64_t& number) const {
  const toml::value<int64_t>* const integer = value.as_integer();
  if (integer == nullptr || integer->get() < min || integer->get() > max) {
    return WrongKind(key, value, fmt::format("a whole number from {} to {}", min, max));
  }
  number = integer->get();
  return {};
}

base::Status TomlFields::ReadList(std::string_view key, const toml::node& value,
                                  std::vector<std::string>& list) const {
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

base::Status TomlFields::ReadTables(
    std::string_view key, const toml::node& value,
    const std::function<base::Status(const toml::table&)>& read) const {
  const toml::array* const array = value.as_array();
  if (array == nullptr) {
    return Mistake(value, fmt::format("'{}' must be written as tables: [[{}]]", key, key));
  }
  for (const toml::node& node : *array) {
    const toml::table* const table = node.as_table();
    if (table == nullptr) return Mistake(node, fmt::format("a {} is a table: [[{}]]", key, key));
    base::Status status = read(*table);
    if (!status.ok()) return status;
  }
  return {};
}

base::Status TomlFields::ReadRuleKey(std::string_view key, const toml::node& value,
                                     Rule& rule) const {
  if (key == "category") return ReadText(key, value, rule.category);
  if (key == "group") return ReadText(key, value, rule.group);
  if (key == "match") return ReadList(key, value, rule.patterns);
  if (key == "also") return ReadList(key, value, rule.also);
  if (key == "unless") return ReadList(key, value, rule.unless);
  if (key == "ignore_case") return ReadFlag(key, value, rule.ignore_case);
  if (key == "full_name") return ReadFlag(key, value, rule.full_name);
  static const std::array<std::string, 7> kKeys = {"category", "group",       "match",    "also",
                                                   "unless",   "ignore_case", "full_name"};
  return UnknownKey(value, key, "a rule", kKeys);
}

base::Result<Rule> TomlFields::ReadRule(const toml::table& table) const {
  Rule rule;
  for (const auto& [key, value] : table) {
    base::Status status = ReadRuleKey(key.str(), value, rule);
    if (!status.ok()) return std::move(status).error();
  }
  const base::Result<RuleSet> alone = RuleSet::Build({rule});
  if (alone.ok()) return rule;
  // Build counts from the rules given to it; the line says more.
  constexpr std::string_view kCounted = "rule 1 ";
  const base::Error& error = alone.error();
  std::string what = error.message;
  if (what.starts_with(kCounted)) what = "rule " + what.substr(kCounted.size());
  base::Error located = Mistake(table, what);
  located.code = error.code;
  if (!error.hint.empty()) located.hint = error.hint;
  return located;
}

}  // namespace layerscope::model

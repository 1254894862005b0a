#pragma once

// toml++ 3.3 asserts on some invalid documents ("[[[") before it reports them; a user's file must
// never end the program.
#define TOML_ASSERT(expr) static_cast<void>(0)
#include <toml++/toml.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"
#include "src/kernel_names/rule_set.h"

namespace layerscope::model {

/// Reads the values of a TOML file for people who wrote it: every mistake is a kUsage error that
/// names file, line and key. Internal to this folder.
class TomlFields {
 public:
  /// `format_hint` says where the format is described. `file_name` must outlive this.
  TomlFields(const std::string& file_name, std::string format_hint)
      : file_name_(file_name), format_hint_(std::move(format_hint)) {}

  /// The root table of the file.
  base::Result<toml::table> Parse(std::string_view text) const;

  base::Error Mistake(const toml::node& where, std::string_view what) const;
  base::Error Mistake(const toml::source_region& where, std::string_view what) const;
  /// "no key 'anchr' in a profile; did you mean 'anchor'?"
  base::Error UnknownKey(const toml::node& where, std::string_view key, std::string_view owner,
                         std::span<const std::string> known) const;

  base::Status ReadText(std::string_view key, const toml::node& value, std::string& text) const;
  base::Status ReadFlag(std::string_view key, const toml::node& value, bool& flag) const;
  base::Status ReadNumber(std::string_view key, const toml::node& value, int64_t min, int64_t max,
                          int64_t& number) const;
  /// A list of texts that are not empty.
  base::Status ReadList(std::string_view key, const toml::node& value,
                        std::vector<std::string>& list) const;
  /// Calls `read` with each table of an array of tables.
  base::Status ReadTables(std::string_view key, const toml::node& value,
                          const std::function<base::Status(const toml::table&)>& read) const;
  /// One [[rule]] table, its patterns checked.
  base::Result<kernel_names::Rule> ReadRule(const toml::table& table) const;

 private:
  base::Error WrongKind(std::string_view key, const toml::node& value,
                        std::string_view wanted) const;
  base::Status ReadRuleKey(std::string_view key, const toml::node& value,
                           kernel_names::Rule& rule) const;

  const std::string& file_name_;
  std::string format_hint_;
};

}  // namespace layerscope::model

#pragma once
// A verb's options as a table: `--name` sets the field that an entry points at.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace layerscope::gen {

// An enumeration option: its words stand in the order of the enum's values.
struct OptionWords {
  uint8_t* value;
  std::vector<std::string_view> words;
};

struct OptionEntry {
  std::string_view name;
  std::variant<bool*, int64_t*, uint64_t*, std::string*, std::vector<int64_t>*, OptionWords> target;
  std::string_view help;
};

template <typename Enum>
OptionWords Words(Enum* value, std::vector<std::string_view> words) {
  static_assert(sizeof(Enum) == 1);
  return {reinterpret_cast<uint8_t*>(value), std::move(words)};
}

// Switches may be negated (`--no-name`); `-o` is `--output`. False with a message that names
// `verb`.
bool ParseEntries(const std::vector<OptionEntry>& entries, std::string_view verb,
                  const std::vector<std::string>& arguments, std::string* error);
// One line an entry.
std::string EntriesHelp(const std::vector<OptionEntry>& entries);

}  // namespace layerscope::gen

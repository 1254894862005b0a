#include "bench/gen/option_table.h"

#include <algorithm>
#include <charconv>

namespace layerscope::gen {
namespace {

// Digits and a unit: 500K, 10M, 2G.
template <typename Int>
bool ParseNumber(std::string_view text, Int* value) {
  Int scale = 1;
  const size_t unit =
      text.empty() ? std::string_view::npos : std::string_view("KMG").find(text.back());
  if (unit != std::string_view::npos) {
    for (size_t i = 0; i <= unit; ++i) scale *= 1000;
    text.remove_suffix(1);
  }
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), *value);
  if (code != std::errc() || end != text.data() + text.size()) return false;
  *value *= scale;
  return true;
}

bool ParseNumbers(std::string_view text, std::vector<int64_t>* values) {
  values->clear();
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    if (!ParseNumber(text.substr(0, comma), &values->emplace_back())) return false;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return !values->empty();
}

bool SetWord(const OptionWords& choice, std::string_view text) {
  const auto word = std::find(choice.words.begin(), choice.words.end(), text);
  if (word == choice.words.end()) return false;
  *choice.value = static_cast<uint8_t>(word - choice.words.begin());
  return true;
}

bool SetValue(const OptionEntry& entry, std::string_view text) {
  if (auto* number = std::get_if<int64_t*>(&entry.target)) return ParseNumber(text, *number);
  if (auto* number = std::get_if<uint64_t*>(&entry.target)) return ParseNumber(text, *number);
  if (auto* numbers = std::get_if<std::vector<int64_t>*>(&entry.target))
    return ParseNumbers(text, *numbers);
  if (auto* choice = std::get_if<OptionWords>(&entry.target)) return SetWord(*choice, text);
  *std::get<std::string*>(entry.target) = std::string(text);
  return true;
}

}  // namespace

bool ParseEntries(const std::vector<OptionEntry>& entries, std::string_view verb,
                  const std::vector<std::string>& arguments, std::string* error) {
  const std::string see_help = "; see " + std::string(verb) + " --help";
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string_view word = arguments[i] == "-o" ? "--output" : std::string_view(arguments[i]);
    const bool negated = word.substr(0, 5) == "--no-";
    word.remove_prefix(std::min<size_t>(word.size(), negated ? 5 : 2));
    const auto entry = std::find_if(entries.begin(), entries.end(),
                                    [word](const OptionEntry& e) { return e.name == word; });
    auto* const flag = entry == entries.end() ? nullptr : std::get_if<bool*>(&entry->target);
    if (entry == entries.end() || (negated && flag == nullptr)) {
      *error = "unknown option " + arguments[i] + see_help;
      return false;
    }
    if (flag != nullptr) {
      **flag = !negated;
    } else if (++i == arguments.size() || !SetValue(*entry, arguments[i])) {
      *error = "bad or missing value after " + std::string(word) + see_help;
      return false;
    }
  }
  return true;
}

namespace {

// What stands behind an option that takes a value; empty for switches.
std::string_view ValueOf(const OptionEntry& entry) {
  if (std::holds_alternative<std::string*>(entry.target)) return " PATH";
  if (std::holds_alternative<std::vector<int64_t>*>(entry.target)) return " N,N,...";
  const bool is_number = std::holds_alternative<int64_t*>(entry.target) ||
                         std::holds_alternative<uint64_t*>(entry.target);
  return is_number ? " N" : "";
}

}  // namespace

std::string EntriesHelp(const std::vector<OptionEntry>& entries) {
  std::string text;
  for (const OptionEntry& entry : entries) {
    std::string line = "  --" + std::string(entry.name) + std::string(ValueOf(entry));
    if (const auto* choice = std::get_if<OptionWords>(&entry.target)) {
      for (size_t i = 0; i < choice->words.size(); ++i)
        line += (i == 0 ? " " : "|") + std::string(choice->words[i]);
    }
    line.resize(line.size() < 34 ? 34 : line.size() + 2, ' ');
    text += line + std::string(entry.help) + "\n";
  }
  return text + "Switches also take --no-NAME.\n";
}

}  // namespace layerscope::gen

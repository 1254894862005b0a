#include "src/cli/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "src/base/nearest.h"
#include "src/base/shell_quote.h"

namespace layerscope::cli {
namespace {

using session::OptionKind;
using session::OptionSpec;

constexpr const char* kDefaultVerb = "summary";

bool Exists(const std::string& path) {
  std::error_code error;
  return path == "-" || std::filesystem::exists(path, error);
}

/// "-n,--rows" as CLI11 wants it.
std::string Flags(const OptionSpec& spec) {
  std::string flags = "--" + spec.name;
  if (spec.letter != 0) flags = fmt::format("-{},{}", spec.letter, flags);
  if (!spec.negation.empty()) flags += ",!--" + spec.negation;
  return flags;
}

/// Where CLI11 puts the values; deque: addresses stay.
struct Slots {
  std::deque<std::string> texts;
  std::deque<bool> flags;
  std::map<std::string, std::pair<CLI::Option*, const std::string*>> text_of;
  std::map<std::string, std::pair<CLI::Option*, const bool*>> flag_of;
};

void AddOption(CLI::App& app, const OptionSpec& spec, Slots& slots) {
  if (spec.kind == OptionKind::kFlag) {
    slots.flags.push_back(false);
    CLI::Option* option = app.add_flag(Flags(spec), slots.flags.back());
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    slots.flag_of[spec.name] = {option, &slots.flags.back()};
    return;
  }
  slots.texts.emplace_back();
  CLI::Option* option = app.add_option(Flags(spec), slots.texts.back());
  option->type_name(spec.value_name);  // named where the value is missing
  if (spec.kind == OptionKind::kTexts || spec.once) {
    option->join(session::kBetweenTexts);
  } else {
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  slots.text_of[spec.name] = {option, &slots.texts.back()};
}

std::vector<std::string> OptionNames(const std::vector<OptionSpec>& specs) {
  std::vector<std::string> names = {"--help"};
  for (const OptionSpec& spec : specs) {
    if (spec.hidden) continue;
    names.push_back("--" + spec.name);
    if (!spec.negation.empty()) names.push_back("--" + spec.negation);
  }
  return names;
}

base::Error UnknownOption(const Verb& verb, const std::vector<OptionSpec>& specs,
                          const std::string& argument) {
  const std::string name = argument.substr(0, argument.find('='));
  return base::UsageError(fmt::format("'{}' has no option '{}'{}", verb.name, name,
                                      base::DidYouMean(name, OptionNames(specs))),
                          fmt::format("run `layerscope {} --help`", verb.name));
}

/// What an option that stands once was given; the same value twice is one.
base::Result<std::string> OnlyValue(const Verb& verb, const OptionSpec& spec,
                                    const std::string& texts) {
  std::vector<std::string> values = session::SplitTexts(texts);
  const bool is_one = std::all_of(values.begin(), values.end(), [&](const std::string& value) {
    return value == values.front();
  });
  if (is_one) return std::move(values.front());
  const bool takes_folder = spec.value_name.find("DIR") != std::string::npos;
  return base::UsageError(
      fmt::format("--{} is given {}: {}", spec.name,
                  values.size() == 2 ? "twice" : fmt::format("{} times", values.size()),
                  fmt::join(values, ", ")),
      takes_folder ? fmt::format("give one, or a folder that holds them: --{} DIR", spec.name)
                   : fmt::format("run `layerscope {} --help`", verb.name));
}

base::Result<CommandLine> ParseVerb(const Verb& verb, std::vector<std::string> arguments) {
  CommandLine line;
  line.verb = &verb;
  const std::vector<OptionSpec> specs = verb.AllOptions();
  CLI::App app;
  app.allow_extras();
  app.set_help_flag();
  bool help = false;
  app.add_flag("-h,--help", help);
  Slots slots;
  for (const OptionSpec& spec : specs) AddOption(app, spec, slots);
  try {
    std::reverse(arguments.begin(), arguments.end());
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return base::UsageError(error.what(), fmt::format("run `layerscope {} --help`", verb.name));
  }
  if (help) {
    line.action = CommandLine::Action::kHelp;
    return line;
  }
  for (std::string& extra : app.remaining()) {
    if (extra == "--") continue;
    if (extra.size() > 1 && extra.front() == '-') return UnknownOption(verb, specs, extra);
    line.inputs.push_back(std::move(extra));
  }
  for (const OptionSpec& spec : specs) {
    const auto slot = slots.text_of.find(spec.name);
    if (slot == slots.text_of.end() || slot->second.first->count() == 0) continue;
    std::string& value = line.options[spec.name];
    value = *slot->second.second;
    if (!spec.once) continue;
    base::Result<std::string> only = OnlyValue(verb, spec, value);
    if (!only.ok()) return std::move(only).error();
    value = *std::move(only);
  }
  for (const auto& [name, slot] : slots.flag_of) {
    if (slot.first->count() > 0) line.options[name] = *slot.second ? "true" : "false";
  }
  return line;
}

base::Error UnknownVerb(const std::string& word) {
  const std::vector<std::string> verbs = VerbNames();
  const bool path_like =
      word.find('/') != std::string::npos || word.find(".json") != std::string::npos;
  if (path_like) {
    // In the words of the reader, which says so of every other input.
    return {base::ErrorCode::kInvalidInput, fmt::format("reading {}: no such file", word),
            "check the path"};
  }
  return base::UsageError(fmt::format("'{}' is neither a verb nor an existing file{}", word,
                                      base::DidYouMean(word, verbs)),
                          fmt::format("verbs: {}", fmt::join(verbs, ", ")));
}

/// `help` and `help VERB`, the same as --help.
base::Result<CommandLine> ParseHelp(const std::vector<std::string>& arguments) {
  CommandLine line;
  line.action = CommandLine::Action::kHelp;
  if (arguments.size() == 1) return line;
  line.verb = FindVerb(arguments[1]);
  if (line.verb != nullptr) return line;
  const std::vector<std::string> verbs = VerbNames();
  return base::UsageError(
      fmt::format("no verb '{}'{}", arguments[1], base::DidYouMean(arguments[1], verbs)),
      fmt::format("verbs: {}", fmt::join(verbs, ", ")));
}

}  // namespace

base::Result<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments) {
  CommandLine line;
  if (arguments.empty()) {
    return base::UsageError("no input given", "try `layerscope TRACE` or `layerscope --help`");
  }
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h") {
    line.action = CommandLine::Action::kHelp;
    return line;
  }
  if (first == "help") return ParseHelp(arguments);
  if (first == "--version") {
    line.action = CommandLine::Action::kVersion;
    return line;
  }
  if (const Verb* verb = FindVerb(first)) {
    return ParseVerb(*verb, {arguments.begin() + 1, arguments.end()});
  }
  const bool starts_with_option = first.size() > 1 && first.front() == '-';
  if (!starts_with_option && !Exists(first)) return UnknownVerb(first);
  // `layerscope TRACE modules …`
  if (arguments.size() > 1 && FindVerb(arguments[1]) != nullptr && !Exists(arguments[1])) {
    return base::UsageError(
        fmt::format("'{}' is a verb, and the verb stands first", arguments[1]),
        fmt::format("layerscope {} {}", arguments[1], base::ShellQuoted(first)));
  }
  return ParseVerb(*FindVerb(kDefaultVerb), arguments);
}

std::string CommandName(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return "layerscope";
  if (FindVerb(arguments.front()) != nullptr) return arguments.front();
  return Exists(arguments.front()) ? kDefaultVerb : "layerscope";
}

bool AsksForJson(const std::vector<std::string>& arguments) {
  bool json = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].starts_with("--format=")) json = arguments[i] == "--format=json";
    if (arguments[i] == "--format" && i + 1 < arguments.size()) json = arguments[i + 1] == "json";
  }
  return json;
}

}  // namespace layerscope::cli

#include "src/cli/help.h"

#include <fmt/format.h>

#include <algorithm>

namespace layerscope::cli {
namespace {

using session::OptionKind;
using session::OptionSpec;

constexpr size_t kWidth = 80;
constexpr size_t kHelpColumn = 26;

/// `text` broken at spaces into lines that fit behind an indent.
std::string Wrapped(const std::string& text, size_t indent) {
  std::string out;
  size_t used = indent;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find(' ', at);
    if (end == std::string::npos) end = text.size();
    const std::string word = text.substr(at, end - at);
    at = end + 1;
    if (used > indent && used + 1 + word.size() > kWidth) {
      out += '\n' + std::string(indent, ' ');
      used = indent;
    }
    if (used > indent) out += ' ', ++used;
    out += word;
    used += word.size();
  }
  return out;
}

/// A command line, continued as the shell wants it where it is too long.
std::string CommandLines(const std::string& command) {
  constexpr size_t kIndent = 2;
  if (kIndent + command.size() <= kWidth) return command;
  const size_t at = command.rfind(' ', kWidth - kIndent - 2);
  if (at == std::string::npos) return command;
  return command.substr(0, at) + " \\\n" + std::string(2 * kIndent, ' ') + command.substr(at + 1);
}

std::string Line(const std::string& left, const std::string& right) {
  std::string line = "  " + left;
  line += line.size() + 2 > kHelpColumn ? "\n" + std::string(kHelpColumn, ' ')
                                        : std::string(kHelpColumn - line.size(), ' ');
  return line + Wrapped(right, kHelpColumn) + "\n";
}

std::string OptionLine(const OptionSpec& spec) {
  std::string left = spec.letter != 0 ? fmt::format("-{}, --{}", spec.letter, spec.name)
                                      : fmt::format("--{}", spec.name);
  if (!spec.negation.empty()) left += fmt::format(", --{}", spec.negation);
  if (spec.kind != OptionKind::kFlag) left += " " + spec.value_name;
  std::string right = spec.help;
  if (spec.kind == OptionKind::kChoice) {
    right += fmt::format(": {}", fmt::join(spec.choices, ", "));
  }
  if (!spec.fallback.empty()) right += fmt::format(" (default: {})", spec.fallback);
  return Line(left, right);
}

std::string OptionLines(const std::vector<OptionSpec>& specs) {
  std::string lines;
  for (const OptionSpec& spec : specs) {
    if (!spec.hidden) lines += OptionLine(spec);
  }
  return lines;
}

}  // namespace

std::string VersionText() {
  return fmt::format("layerscope {}\n", LAYERSCOPE_VERSION);
}

std::string ProgramHelp() {
  std::string text =
      "layerscope tells which part of an LLM the GPU time in a profiler trace went to.\n\n"
      "usage: layerscope VERB INPUT… [options]\n"
      "       layerscope INPUT…        the same as `layerscope summary INPUT…`\n\n"
      "INPUT is a PyTorch profiler trace (.json, .json.gz, .json.zst), a directory of\n"
      "ranks, or - for standard input. Several inputs are ranks of one run.\n";
  std::string group;
  for (const Verb& verb : Verbs()) {
    if (verb.group != group) text += fmt::format("\n{}:\n", verb.group);
    group = verb.group;
    text += Line(verb.name, verb.summary);
  }
  text +=
      "\n`layerscope help VERB` lists the options of a verb. Exit status: 0 ok,\n"
      "1 failed, 2 usage, 3 invalid input, 130 interrupted.\n";
  return text;
}

std::string VerbHelp(const Verb& verb) {
  constexpr size_t kUsageIndent = 7;
  const std::string usage = fmt::format("layerscope {} {} [options]", verb.name, verb.usage);
  std::string text =
      fmt::format("usage: {}\n\n{}\n", Wrapped(usage, kUsageIndent), Wrapped(verb.summary, 0));
  text += "\noptions:\n" + OptionLines(verb.options);
  text += "\noptions of every verb:\n" + OptionLines(verb.common_options);
  text += Line("-h, --help", "this text");
  text += "\nexamples:\n";
  for (const std::string& example : verb.examples) text += "  " + CommandLines(example) + "\n";
  return text;
}

}  // namespace layerscope::cli

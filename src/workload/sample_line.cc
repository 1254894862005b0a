#include "src/workload/sample_line.h"

#include <algorithm>
#include <limits>

#include "src/workload/record.h"

namespace layerscope::workload {
namespace {

constexpr std::string_view kBlanks = " \t";

bool IsNameCharacter(char c, bool first) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':';
  return letter || (!first && c >= '0' && c <= '9');
}

/// Cuts a name off the front; empty where none stands there.
std::string_view TakeName(std::string_view& text) {
  size_t at = 0;
  while (at < text.size() && IsNameCharacter(text[at], at == 0)) ++at;
  const std::string_view name = text.substr(0, at);
  text.remove_prefix(at);
  return name;
}

void SkipBlanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
}

bool Take(std::string_view& text, char c) {
  SkipBlanks(text);
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

/// The body of the quoted text at the front, with its escapes.
std::optional<std::string_view> TakeQuoted(std::string_view& text) {
  if (!Take(text, '"')) return std::nullopt;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      const std::string_view body = text.substr(0, at);
      text.remove_prefix(at + 1);
      return body;
    }
  }
  return std::nullopt;
}

/// What stands between the braces; a comma may follow the last label.
bool TakeLabels(std::string_view& text, Labels& labels) {
  for (;;) {
    if (Take(text, '}')) return true;
    const std::string_view name = TakeName(text);
    if (name.empty() || !Take(text, '=')) return false;
    const std::optional<std::string_view> value = TakeQuoted(text);
    if (!value) return false;
    labels.emplace_back(name, Unescaped(*value));
    if (Take(text, ',')) continue;
    return Take(text, '}');
  }
}

}  // namespace

std::string Unescaped(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      out += text[at];
      continue;
    }
    const char escaped = text[++at];
    if (escaped == 'n') {
      out += '\n';
    } else if (escaped == '\\' || escaped == '"') {
      out += escaped;
    } else {
      out += '\\';
      out += escaped;
    }
  }
  return out;
}

std::optional<double> ParseValue(std::string_view text) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == "+Inf" || text == "Inf") return kInfinity;
  if (text == "-Inf") return -kInfinity;
  if (text == "NaN" || text == "Nan") return std::numeric_limits<double>::quiet_NaN();
  return RealOf(text);
}

std::optional<Sample> ParseSample(std::string_view line) {
  Sample sample;
  SkipBlanks(line);
  sample.name = TakeName(line);
  if (sample.name.empty()) return std::nullopt;
  SkipBlanks(line);
  if (line.starts_with('{')) {
    line.remove_prefix(1);
    if (!TakeLabels(line, sample.labels)) return std::nullopt;
  }
  SkipBlanks(line);
  sample.value = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(sample.value.size());
  const std::optional<double> number = ParseValue(sample.value);
  if (!number) return std::nullopt;
  sample.number = *number;
  // A timestamp and an exemplar may follow; other words may not.
  SkipBlanks(line);
  if (line.empty() || line.starts_with('#')) return sample;
  const std::string_view stamp = line.substr(0, line.find_first_of(kBlanks));
  return ParseValue(stamp) ? std::optional(sample) : std::nullopt;
}

}  // namespace layerscope::workload

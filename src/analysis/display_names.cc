#include "src/analysis/display_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

#include "src/kernel_names/kernel_name.h"

namespace layerscope::analysis {
namespace {

/// Bytes of the part in which two names differ: enough for a few template arguments.
constexpr size_t kMaxPart = 40;

bool IsWordByte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         (static_cast<unsigned char>(c) & 0x80U) != 0;
}

/// Where all texts stop being equal, moved back to the start of a word.
size_t CommonStart(const std::vector<std::string>& texts) {
  size_t n = texts.front().size();
  for (const std::string& text : texts) {
    const auto [a, b] =
        std::mismatch(texts.front().begin(), texts.front().end(), text.begin(), text.end());
    n = std::min(n, static_cast<size_t>(a - texts.front().begin()));
  }
  while (n > 0 && IsWordByte(texts.front()[n - 1])) --n;
  return n;
}

/// How many bytes all texts have in common at the end, up to the end of a word; behind `start`.
size_t CommonEnd(const std::vector<std::string>& texts, size_t start) {
  const std::string& first = texts.front();
  size_t n = first.size() - start;
  for (const std::string& text : texts) {
    size_t same = 0;
    const size_t most = std::min(n, text.size() - start);
    while (same < most && text[text.size() - 1 - same] == first[first.size() - 1 - same]) ++same;
    n = std::min(n, same);
  }
  while (n > 0 && IsWordByte(first[first.size() - n])) --n;
  return n;
}

/// `text` without a UTF-8 sequence cut at its end.
std::string_view WholeCharacters(std::string_view text, size_t n) {
  if (n >= text.size()) return text;
  while (n > 0 && (static_cast<unsigned char>(text[n]) & 0xc0U) == 0x80U) --n;
  return text.substr(0, n);
}

/// The part of each text that the others do not have; empty where nothing is left.
std::vector<std::string> DifferingParts(const std::vector<std::string>& texts) {
  const size_t start = CommonStart(texts);
  const size_t end = CommonEnd(texts, start);
  std::vector<std::string> parts;
  for (const std::string& text : texts) {
    const std::string_view part = std::string_view(text).substr(start, text.size() - end - start);
    if (part.size() <= kMaxPart) {
      parts.emplace_back(part);
    } else {
      parts.push_back(fmt::format("{}…", WholeCharacters(part, kMaxPart)));
    }
  }
  return parts;
}

/// Sets the names of the kernels `members`, which share one short name.
void Distinguish(const std::vector<std::string>& names, const std::vector<size_t>& members,
                 std::vector<std::string>& shown) {
  std::vector<std::string> texts;
  texts.reserve(members.size());
  for (const size_t at : members) texts.push_back(kernel_names::Demangle(names[at]));
  const std::vector<std::string> parts = DifferingParts(texts);
  std::map<std::string, int> n_of;
  for (size_t i = 0; i < members.size(); ++i) {
    std::string& name = shown[members[i]];
    if (names[members[i]].size() <= kMaxWholeName) {
      name = names[members[i]];
    } else if (!parts[i].empty()) {
      name += fmt::format("[{}]", parts[i]);
    }
    if (const int n = ++n_of[name]; n > 1) name += fmt::format(" #{}", n);
  }
}

}  // namespace

std::vector<std::string> DistinctNames(const std::vector<std::string>& names,
                                       const std::vector<std::string>& short_names) {
  std::map<std::string_view, std::vector<size_t>> members;
  for (size_t i = 0; i < short_names.size(); ++i) members[short_names[i]].push_back(i);
  std::vector<std::string> shown = short_names;
  for (const auto& [short_name, kernels] : members) {
    if (kernels.size() > 1) Distinguish(names, kernels, shown);
  }
  return shown;
}

}  // namespace layerscope::analysis

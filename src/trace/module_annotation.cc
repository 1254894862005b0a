#include "src/trace/module_annotation.h"

#include <algorithm>

namespace layerscope::trace {
namespace {

constexpr std::string_view kWord = "Module";

/// No attribute of a Python class holds white space or quotes.
bool IsPath(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != '\'' && c != '"' && c != '\\';
  });
}

std::string_view WithoutLeadingSpace(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

/// Takes a quoted text from the front of `rest`; nullopt where none stands.
std::optional<std::string_view> TakeQuoted(std::string_view& rest) {
  if (rest.empty() || (rest.front() != '\'' && rest.front() != '"')) return std::nullopt;
  const size_t end = rest.find(rest.front(), 1);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view text = rest.substr(1, end - 1);
  rest = WithoutLeadingSpace(rest.substr(end + 1));
  return text;
}

}  // namespace

std::optional<std::string_view> ModulePathOf(std::string_view name) {
  std::optional<std::string_view> path;
  if (name.starts_with(kWord)) {
    name.remove_prefix(kWord.size());
    if (!name.starts_with(':')) return std::nullopt;
    path = WithoutLeadingSpace(name.substr(1));
  } else if (name.starts_with('{')) {
    std::string_view rest = WithoutLeadingSpace(name.substr(1));
    if (TakeQuoted(rest) != kWord || !rest.starts_with(':')) return std::nullopt;
    rest = WithoutLeadingSpace(rest.substr(1));
    path = TakeQuoted(rest);
    if (!rest.starts_with(',') && !rest.starts_with('}')) return std::nullopt;
  }
  return path && IsPath(*path) ? path : std::nullopt;
}

}  // namespace layerscope::trace

#include "src/ingest/kineto/token.h"

#include <charconv>

#include "src/json/string_body.h"

namespace layerscope::ingest::kineto {
namespace {}  // namespace

std::string_view Trimmed(std::string_view token) {
  while (!token.empty() && IsJsonSpace(token.back())) token.remove_suffix(1);
  return token;
}

bool IsQuoted(std::string_view token) {
  return token.size() >= 2 && token.front() == '"' && token.back() == '"';
}

std::string_view Unquoted(std::string_view token) {
  return IsQuoted(token) ? token.substr(1, token.size() - 2) : token;
}

std::optional<int64_t> ParseInteger(std::string_view token) {
  std::string_view text = Unquoted(token);
  if (text.empty()) return std::nullopt;
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc()) return std::nullopt;
  if (at == end) return value;
  if (*at != '.') return std::nullopt;
  for (const char* rest = at + 1; rest != end; ++rest) {
    if (*rest != '0') return std::nullopt;
  }
  return value;
}

bool Unescape(std::string_view content, std::string& out) {
  out.clear();
  out.reserve(content.size());
  bool clean = true;
  for (size_t at = 0; at < content.size();) {
    if (content[at] == '\\' && json::DecodeEscape(content, &at, &out)) continue;
    clean &= content[at] != '\\';
    out += content[at++];
  }
  return clean;
}

std::string WithoutSpace(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string && c == '\\' && i + 1 < json.size()) {
      out += c;
      out += json[++i];
      continue;
    }
    if (c == '"') in_string = !in_string;
    if (in_string || !IsJsonSpace(c)) out += c;
  }
  return out;
}

}  // namespace layerscope::ingest::kineto

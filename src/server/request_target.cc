#include "src/server/request_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace layerscope::server {
namespace {

base::Error Bad(std::string message) {
  return base::UsageError(std::move(message), {});
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Percent escapes and "+" as forms send them; nothing for a bad escape or a NUL.
std::optional<std::string> Decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out += ' ';
      continue;
    }
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = HexDigit(text[i + 1]);
    const int low = HexDigit(text[i + 2]);
    if (high < 0 || low < 0 || high + low == 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

void AppendEncoded(std::string_view text, std::string& out) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()";
  for (const char c : text) {
    if (kPlain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
}

base::Status AddPair(std::string_view pair, std::map<std::string, std::string>& query) {
  if (pair.empty()) return {};
  const size_t equals = pair.find('=');
  std::optional<std::string> name = Decoded(pair.substr(0, equals));
  std::optional<std::string> value = equals == std::string_view::npos
                                         ? std::optional<std::string>("true")
                                         : Decoded(pair.substr(equals + 1));
  if (!name || name->empty() || !value) return Bad("the query holds a bad escape or no name");
  const bool is_new = query.emplace(*std::move(name), *std::move(value)).second;
  return is_new ? base::Status() : Bad("the query holds a name twice");
}

}  // namespace

base::Result<RequestTarget> ParseRequestTarget(std::string_view target) {
  if (target.size() > kMaxTargetBytes) return Bad("the request's target is too long");
  if (target.empty() || target.front() != '/') return Bad("the request's target is no path");
  const bool printable =
      std::all_of(target.begin(), target.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (!printable) return Bad("the request's target holds characters that must be escaped");
  RequestTarget parsed;
  target = target.substr(0, target.find('#'));
  const size_t mark = target.find('?');
  parsed.path = target.substr(0, mark);
  if (mark == std::string_view::npos) return parsed;
  std::string_view rest = target.substr(mark + 1);
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('&'), rest.size());
    if (base::Status added = AddPair(rest.substr(0, end), parsed.query); !added.ok()) {
      return std::move(added).error();
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return parsed;
}

std::string SliceKey(std::string_view verb, const std::map<std::string, std::string>& query) {
  std::string key(verb);
  char separator = '?';
  for (const auto& [name, value] : query) {
    key += std::exchange(separator, '&');
    AppendEncoded(name, key);
    if (value == "true") continue;
    key += '=';
    AppendEncoded(value, key);
  }
  return key;
}

}  // namespace layerscope::server

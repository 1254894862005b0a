#include "src/server/access.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace layerscope::server {
namespace {

bool SameIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

/// Every byte of the longer one is looked at.
bool SameInConstantTime(std::string_view given, std::string_view right) {
  unsigned differs = given.size() == right.size() ? 0 : 1;
  for (size_t i = 0; i < right.size(); ++i) {
    const char c = i < given.size() ? given[i] : '\0';
    differs |= static_cast<unsigned>(static_cast<unsigned char>(c)) ^
               static_cast<unsigned>(static_cast<unsigned char>(right[i]));
  }
  return differs == 0;
}

/// Clients leave it out of Host and Origin (RFC 9110, 4.2.1).
constexpr std::string_view kDefaultPort = "80";

}  // namespace

Access::Access(std::string token, uint16_t port)
    : token_(std::move(token)), port_(std::to_string(port)) {}

bool Access::AllowsHost(std::string_view host) const {
  constexpr std::array<std::string_view, 3> kNames = {"localhost", "127.0.0.1", "[::1]"};
  size_t colon = host.rfind(':');
  // One inside brackets is part of the address.
  if (host.ends_with(']')) colon = std::string_view::npos;
  const bool has_port = colon != std::string_view::npos;
  if ((has_port ? host.substr(colon + 1) : kDefaultPort) != port_) return false;
  const std::string_view name = host.substr(0, colon);
  return std::any_of(kNames.begin(), kNames.end(),
                     [name](std::string_view known) { return SameIgnoringCase(name, known); });
}

bool Access::AllowsOrigin(std::string_view origin) const {
  constexpr std::string_view kScheme = "http://";
  if (origin.empty()) return true;
  return origin.starts_with(kScheme) && AllowsHost(origin.substr(kScheme.size()));
}

bool Access::AllowsToken(std::string_view authorization, std::string_view query_token) const {
  constexpr std::string_view kBearer = "Bearer ";
  const bool has_header = authorization.size() >= kBearer.size() &&
                          SameIgnoringCase(authorization.substr(0, kBearer.size()), kBearer);
  const std::string_view given = has_header ? authorization.substr(kBearer.size()) : query_token;
  return !token_.empty() && SameInConstantTime(given, token_);
}

}  // namespace layerscope::server

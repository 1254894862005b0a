#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace layerscope::server {

/// Who may ask: whoever knows the token, from a page of this server. A page of elsewhere cannot,
/// whatever name it makes resolve to this machine.
class Access {
 public:
  Access(std::string token, uint16_t port);

  /// The Host header names this server: localhost, 127.0.0.1 or [::1], with its port, which
  /// may be left out where it is 80.
  bool AllowsHost(std::string_view host) const;
  /// The Origin header (empty: none was sent) is a page of this server.
  bool AllowsOrigin(std::string_view origin) const;
  /// The Authorization header ("Bearer TOKEN") or else the token of the query is the right one; the
  /// time it takes does not tell how much of it is right.
  bool AllowsToken(std::string_view authorization, std::string_view query_token) const;

  const std::string& token() const { return token_; }

 private:
  std::string token_;
  std::string port_;
};

}  // namespace layerscope::server

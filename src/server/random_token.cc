#include "src/server/random_token.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <vector>

namespace layerscope::server {

base::Result<std::string> RandomToken(size_t n_bytes) {
  std::vector<uint8_t> bytes(n_bytes);
  for (size_t filled = 0; filled < n_bytes;) {
    const ssize_t got = ::getrandom(bytes.data() + filled, n_bytes - filled, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      return base::Error{base::ErrorCode::kFailed, "the system gives no random bytes", {}};
    }
    filled += static_cast<size_t>(got);
  }
  std::string text;
  for (const uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace layerscope::server

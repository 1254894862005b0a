// Targets of HTTP requests: whatever is parsed has a key that parses to the same question.
#include <cstdlib>
#include <string>
#include <string_view>

#include "src/base/result.h"
#include "src/server/access.h"
#include "src/server/page.h"
#include "src/server/request_target.h"

#include "tests/fuzz/target.h"

namespace server = layerscope::server;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const server::Access access("0123456789abcdef", 8787);
  (void)access.AllowsHost(text);
  (void)access.AllowsOrigin(text);
  if (access.AllowsToken(text, text) && text.find(access.token()) == std::string_view::npos)
    std::abort();
  (void)server::WithNonce(text, "nonce");
  const std::string escaped = server::EscapedForScript(text);
  if (escaped.find_first_of("<>&") != std::string::npos) std::abort();
  const layerscope::base::Result<server::RequestTarget> target = server::ParseRequestTarget(text);
  if (!target.ok()) return 0;
  const std::string key = server::SliceKey("/v", target->query);
  if (key.size() > server::kMaxTargetBytes) return 0;
  const layerscope::base::Result<server::RequestTarget> again = server::ParseRequestTarget(key);
  if (!again.ok() || again->query != target->query) std::abort();
  return 0;
}

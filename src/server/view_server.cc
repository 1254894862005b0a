#include "src/server/view_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "src/server/access.h"
#include "src/server/answer_cache.h"
#include "src/server/http_server.h"
#include "src/server/page.h"
#include "src/server/random_token.h"
#include "src/server/router.h"
#include "src/server/worker_pool.h"

namespace layerscope::server {
namespace {

constexpr size_t kTokenBytes = 24;
constexpr size_t kCacheBytes = size_t{128} << 20;
/// Ports tried behind the usual one: several traces may be open at a time.
constexpr int kMorePorts = 40;

base::Status Serve(const session::ViewSource& source, const ServeOptions& options) {
  HttpServer http;
  base::Result<uint16_t> port =
      http.Listen(options.port.value_or(kDefaultPort), options.port ? 0 : kMorePorts);
  if (!port.ok()) return std::move(port).error();
  base::Result<std::string> token = RandomToken(kTokenBytes);
  if (!token.ok()) return std::move(token).error();
  const Access access(*token, *port);
  const std::string_view page = ViewerBundle();
  const Router router(access, source, !page.empty());
  WorkerPool pool(std::clamp<size_t>(options.n_threads, 2, 16));
  AnswerCache cache(pool, kCacheBytes,
                    ErrorAnswer(500, "view",
                                {base::ErrorCode::kFailed, "not enough memory",
                                 "ask for fewer rows or a part of it"}));
  if (options.ready) options.ready(fmt::format("http://localhost:{}/?token={}", *port, *token));
  base::Status served = http.Run(router, cache, page, *options.stop);
  pool.Stop();
  return served;
}

}  // namespace

base::Status ServeView(const session::ViewSource& source, const ServeOptions& options) {
  try {
    return Serve(source, options);
  } catch (const std::exception& error) {
    return base::Error{base::ErrorCode::kFailed, error.what(), {}};
  }
}

}  // namespace layerscope::server

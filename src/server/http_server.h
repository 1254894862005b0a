#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "src/base/result.h"
#include "src/base/stop_flag.h"
#include "src/server/answer_cache.h"
#include "src/server/limits.h"
#include "src/server/router.h"

namespace layerscope::server {

/// HTTP/1.1 on the loopback addresses alone, in one thread that waits for nothing but sockets.
class HttpServer {
 public:
  explicit HttpServer(const Limits& limits = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Takes the port on 127.0.0.1 and, where the machine has it, on ::1; of `port` and the
  /// `n_more` behind it the first that is free on both. Port 0: one that the system chooses.
  /// kFailed when there is none.
  base::Result<uint16_t> Listen(uint16_t port, int n_more);

  /// Answers until `stop` is requested. `page` is the viewer. All outlive the call; `cache` may
  /// still call back after it, to no effect.
  base::Status Run(const Router& router, AnswerCache& cache, std::string_view page,
                   const base::StopFlag& stop);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace layerscope::server

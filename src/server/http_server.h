#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "src/base/result.h"
#include "src/base/stop_flag.h"
#include "src/server/answer_cache.h"
#include "src/server/router.h"

namespace layerscope::server {

/// What one client may take. The defaults suit a browser on the same machine.
struct Limits {
  size_t max_connections = 256;
  size_t max_header_bytes = size_t{32} << 10;
  /// From the connection, or the answer before, until a request is complete, however it trickles.
  std::chrono::milliseconds read_time{15'000};
  /// Until an answer is taken.
  std::chrono::milliseconds write_time{60'000};
};

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
  std::shared_ptr<Impl> impl_;
};

}  // namespace layerscope::server

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "src/base/result.h"
#include "src/base/stop_flag.h"
#include "src/session/view_source.h"

namespace layerscope::server {

inline constexpr uint16_t kDefaultPort = 8787;

struct ServeOptions {
  std::optional<uint16_t> port;  ///< this one or none; absent: kDefaultPort or one behind it
  size_t n_threads = 2;          ///< that compute answers; at least 2, so that one may take long
  const base::StopFlag* stop = nullptr;
  /// Told the address, token included, once it can be opened.
  std::function<void(const std::string& url)> ready;
};

/// Serves the viewer and its figures on the loopback addresses until `stop` is requested. kFailed
/// when the port is taken.
base::Status ServeView(const session::ViewSource& source, const ServeOptions& options);

}  // namespace layerscope::server

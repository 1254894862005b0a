#pragma once

#include <chrono>
#include <cstddef>

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

}  // namespace layerscope::server

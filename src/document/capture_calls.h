#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/layers/layer_structure.h"
#include "src/trace/trace.h"

namespace layerscope::document {

/// From the call that begins a graph capture to the end of the one that ends it, on their thread.
struct CapturedTime {
  trace::ThreadId thread;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

/// Finds the calls around the captures that layers were found in: a pass knows the times of its
/// first and last launch alone.
class CaptureCalls {
 public:
  /// `trace` must outlive this.
  explicit CaptureCalls(const trace::Trace& trace);
  /// Nothing where no launch of the pass's process starts when it starts.
  std::optional<CapturedTime> Around(const layers::Pass& pass) const;

 private:
  bool Before(uint32_t call, trace::ThreadId thread, int64_t t_ns) const;

  const trace::Trace& trace_;
  std::vector<uint32_t> launches_;  ///< by start
  std::vector<uint32_t> begins_;    ///< by thread, then start
  std::vector<uint32_t> ends_;      ///< by thread, then start
};

}  // namespace layerscope::document

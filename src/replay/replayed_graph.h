#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/trace/trace.h"

namespace layerscope::replay {

/// The activities of one graph launch.
struct GraphLaunch {
  trace::CallId call;
  attribution::StepId step;    ///< of the launch; may be invalid
  std::vector<uint32_t> rows;  ///< kernels, copies and sets, by (start, file order)
  uint32_t sequence = 0;  ///< launches of equal sequence replay the same names in the same order
                          ///< on the same number of streams
  bool burst = false;     ///< its kernels carry one deferred time stamp: their order is unknown
};

/// All graph launches of a trace, and which follow each other in one forward.
struct GraphLaunches {
  std::vector<GraphLaunch> launches;  ///< by (process, thread, start, file order)
  /// Launches of one step of one thread, else of one thread: [begin, end) into `launches`.
  struct Group {
    uint32_t begin = 0, end = 0;
    attribution::StepId step;      ///< invalid: no step says where a forward begins and ends
    std::optional<int64_t> batch;  ///< of the step
  };
  std::vector<Group> groups;
  size_t n_sequences = 0;
};

GraphLaunches FindGraphLaunches(const trace::Trace& trace,
                                const attribution::Attribution& attribution);

}  // namespace layerscope::replay

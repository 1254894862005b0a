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
    attribution::StepId step;       ///< invalid: no step says where a forward begins and ends
    std::optional<int64_t> batch;   ///< of the step: its requests
    std::optional<int64_t> tokens;  ///< of the step: its query tokens
  };
  std::vector<Group> groups;
  size_t n_sequences = 0;
};

/// The rows of a launch lane by lane: `begin[k]` is where the k-th stream's rows start in `rows`,
/// one more entry past the last. Streams stand in an order that depends on their content alone, so
/// that launches of equal sequence give equal names position by position.
struct LaneRows {
  std::vector<uint32_t> rows;
  std::vector<uint32_t> begin;
};
LaneRows RowsByLane(const trace::Trace& trace, const GraphLaunch& launch);

/// A graph launch without any activity is left out.
GraphLaunches FindGraphLaunches(const trace::Trace& trace,
                                const attribution::Attribution& attribution);

}  // namespace layerscope::replay

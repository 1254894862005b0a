#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/attribution/evidence.h"
#include "src/trace/ids.h"

namespace layerscope::attribution {

/// What became of one graph of a trace. Launches are of one graph when they share a graph node;
/// where kernels carry no node ids, when a process replays the same kernels in the same order (for
/// piecewise graphs: all forwards of the same pieces). Counts are kernels over all launches.
struct GraphAlignment {
  int64_t graph = 0;               ///< ordinal in the trace, by first launch
  trace::ProcessId process;        ///< that launches it
  std::optional<int64_t> batch;    ///< requests of its steps, where they say
  int64_t kernels_per_launch = 0;  ///< of the largest launch, or forward where there are pieces
  int64_t pieces = 1;              ///< graph launches of one forward
  int64_t launches = 0;            ///< graph launches
  Evidence evidence = Evidence::kUnresolved;  ///< what placed it; unresolved: withheld, or nothing
  std::string source;  ///< the file that was laid over it: capture, eager trace, annotations; may
                       ///< be empty
  bool own_steps = false;  ///< eager steps of this trace were laid over it, and no file
  std::optional<int64_t> source_batch;  ///< the batch that the recording was made for
  int64_t matched = 0;                  ///< replayed kernels that have a counterpart
  int64_t mismatched = 0;               ///< replayed kernels that have none, or more than one
  int64_t missing = 0;    ///< recorded nodes, times launches, that no replayed kernel stands for
  bool withheld = false;  ///< a recording was given and did not fit: no module was taken from it
  std::string reason;  ///< why it is withheld, or what is odd ("captured for batch 64"); one clause
  double confidence = 0;  ///< 0 to 1, the mean of the launches
};

/// One graph launch: its part of a GraphAlignment.
struct AlignedLaunch {
  trace::CallId call;
  uint32_t graph = 0;  ///< index of the GraphAlignment
  std::optional<int64_t> batch;
  int64_t matched = 0;
  int64_t mismatched = 0;
  int64_t missing = 0;
  double confidence = 0;
};

/// The graphs that have one of the `chosen` launches, with the sums over these alone; what a graph
/// is (its size, its recording and why) stays that of all launches.
std::vector<GraphAlignment> SumLaunches(std::vector<GraphAlignment> graphs,
                                        const std::vector<AlignedLaunch>& launches,
                                        const std::function<bool(const AlignedLaunch&)>& chosen);

}  // namespace layerscope::attribution

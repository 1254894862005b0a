#pragma once

#include <cstdint>
#include <string>

#include "src/analysis/rank_view.h"

namespace layerscope::analysis {

/// How launches and activities of a file meet. A launch is a call whose name contains Launch.
struct LaunchCounts {
  int64_t n = 0;
  int64_t graph = 0;
  int64_t without_activity = 0;  ///< launches whose correlation no activity has
  int64_t captured = 0;          ///< of these: recorded into a graph, so that nothing of theirs ran
  int64_t max_kernels = 0;       ///< most kernels of one correlation
  int64_t graph_kernel_sum_ns = 0;
  int64_t graph_kernels = 0;
  int64_t max_graph_kernels = 0;        ///< most kernels of one graph launch
  int64_t kernels_without_launch = 0;   ///< no launch, whatever other call there is
  int64_t activities_without_call = 0;  ///< no call of any name
};

/// Launches of which an activity should be in the file and is not.
inline int64_t LostLaunches(const LaunchCounts& counts) {
  return counts.without_activity - counts.captured;
}

/// Over the whole file, whatever is selected.
LaunchCounts CountLaunches(const RankView& view);

/// "444, of which 12 without an activity; 4 graph launches (largest: 84 kernels, 3.2 ms in all)".
/// Of graphs that were recorded whole (`n_graphs`, `graph_ns`) their own time.
std::string LaunchText(const LaunchCounts& launches, int64_t n_graphs, int64_t graph_ns);

}  // namespace layerscope::analysis

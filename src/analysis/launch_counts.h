#pragma once

#include <cstdint>

#include "src/analysis/rank_view.h"

namespace layerscope::analysis {

/// How launches and activities of a file meet. A launch is a call whose name contains Launch.
struct LaunchCounts {
  int64_t n = 0;
  int64_t graph = 0;
  int64_t without_activity = 0;  ///< launches whose correlation no activity has
  int64_t max_kernels = 0;       ///< most kernels of one correlation
  int64_t graph_kernel_sum_ns = 0;
  int64_t graph_kernels = 0;
  int64_t kernels_without_launch = 0;   ///< no launch, whatever other call there is
  int64_t activities_without_call = 0;  ///< no call of any name
};

/// Over the whole file, whatever is selected.
LaunchCounts CountLaunches(const RankView& view);

}  // namespace layerscope::analysis

#pragma once

#include <cstdint>
#include <optional>

#include "src/analysis/analysis.h"
#include "src/analysis/selection.h"
#include "src/base/result.h"

namespace layerscope::analysis {

inline constexpr int64_t kTimelineBins = 1000;
inline constexpr int64_t kMostTimelineBins = 10'000;

struct TimelineOptions {
  /// Which lanes: rank, pid, device, stream. `from_ns` and `to_ns` are the range that is shown, by
  /// default from the first start to the last end of what is selected, over all ranks.
  Selection selection;
  Presentation presentation;
  int64_t bins = kTimelineBins;
};

/// `timeline`: steps, passes, layers, blocks and streams side by side, as a viewer draws them. What
/// is too short to be seen is drawn together, so that the output is bounded by lanes and bins. All
/// ranks have one range. kUsage for a number of bins or a range that is none; kNotFound for a range
/// outside of the run.
base::Result<Output> ComputeTimeline(const AnalysisInput& input, const TimelineOptions& options);

}  // namespace layerscope::analysis

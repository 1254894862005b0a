#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "src/analysis/overhead_rows.h"

namespace layerscope::analysis {

/// Steps of one phase are alike, however they were launched: one that ran eager among replays took
/// longer for that. A marker may say no phase: then the launch mode tells prefill from decode.
inline LaunchMode GroupMode(const OverheadRow& row) {
  return row.phase == attribution::Phase::kUnknown ? row.launch_mode() : LaunchMode::kNone;
}

/// The steps of one phase (or launch mode) and number of requests, over all ranks and processes of
/// a file; steps without a wall are left out. Medians are those of each column for itself (of an
/// even number the lower), so that those of the lines need not sum to that of the wall; the sums
/// do.
struct OverheadMedian {
  attribution::Phase phase = attribution::Phase::kUnknown;
  std::optional<int64_t> requests;
  LaunchMode launch_mode = LaunchMode::kNone;
  int64_t n_steps = 0;
  int64_t wall_ns = 0;
  int64_t host_wall_ns = 0;
  int64_t gap_ns = 0;
  int64_t busy_ns = 0;
  int64_t n_kernels = 0;
  LineSums lines;
  LineSums sums;
  int64_t sum_wall_ns() const { return sums.total_ns(); }
};

/// A step that took longer than the median of its group.
struct WorstStep {
  size_t row = 0;                              ///< index into OverheadRows::rows
  int64_t over_ns = 0;                         ///< wall over the group's median
  OverheadLine line = OverheadLine::kCompute;  ///< the line that grew most over its median
  int64_t line_over_ns = 0;
};

struct OverheadSummary {
  std::vector<OverheadMedian> medians;  ///< most time first
  std::vector<WorstStep> worst;         ///< at most kWorstSteps, the worst first
};

inline constexpr size_t kWorstSteps = 5;

/// n log n in the rows.
OverheadSummary SummariseOverhead(const std::vector<OverheadRow>& rows);

}  // namespace layerscope::analysis

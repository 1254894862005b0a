#pragma once

#include <string>

#include "src/analysis/rank_view.h"
#include "src/table/result.h"

namespace layerscope::analysis {

/// The selection's time by evidence class, for module and for layer; each sums to total_ns.
table::Coverage CoverageOf(const RankView& view);

/// How much of the selection's time lies under graph launches, and how much of that is hidden: what
/// runs below the launch is not known.
struct GraphShare {
  int64_t n_launches = 0;     ///< graph launch calls that own a selected activity
  int64_t gpu_ns = 0;         ///< time of activities under a graph launch
  int64_t unresolved_ns = 0;  ///< of these: no module is known at all
  int64_t in_scope_ns = 0;  ///< of these: the module around the launch is known, not what is below
  int64_t hidden_ns() const { return unresolved_ns + in_scope_ns; }
  int64_t most_activities = 0;  ///< activities of the largest launch
};
GraphShare GraphShareOf(const RankView& view);

/// One sentence when graph replay hides the modules below a launch; attribution's warning says how
/// to record them. Empty when it hides less than a tenth of the time.
std::string GraphBanner(const RankView& view);

/// The result of one rank with rank, path and coverage filled in.
table::RankResult StartResult(const RankView& view);

/// What stands in for a result when the trace's times overflow: an error-level warning (exit 3) and
/// an abstention.
table::RankResult AbstainOnOverflow(const RankView& view);

}  // namespace layerscope::analysis

#pragma once

#include <vector>

#include "src/analysis/rank_reduce.h"
#include "src/analysis/step_rows.h"
#include "src/table/table.h"

namespace layerscope::analysis {

/// One row a step index (of a recording, where there are several), over the rows of all ranks and
/// processes. Of a rank with several devices
/// busy, idle and sum add up, wall is the longest. Means are rounded half to even.
table::Table ReduceSteps(const std::vector<StepRow>& rows, RankReduce how);

}  // namespace layerscope::analysis

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/analysis/overhead_rows.h"
#include "src/analysis/rank_reduce.h"
#include "src/table/value.h"

namespace layerscope::analysis {

/// One row a step index, over the rows of all ranks and processes: of each figure and each line for
/// itself the sum, the largest or the mean (half to even). Only sums of lines are the sum of walls.
table::Table ReduceOverhead(const std::vector<OverheadRow>& rows, RankReduce how);

/// What all ranks give together: `median`, over the steps of all of them, and with `how` also
/// `steps`.
table::Object ReducedOverhead(const std::vector<OverheadRow>& rows, std::optional<RankReduce> how);

}  // namespace layerscope::analysis

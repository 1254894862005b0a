#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/analysis/step_rows.h"
#include "src/table/table.h"

namespace layerscope::analysis {

/// How a step's times over ranks become one number.
enum class RankReduce : uint8_t { kSum, kMax, kMean };
/// "sum", "max", "mean": by enumerator.
const std::vector<std::string>& RankReduceNames();

/// One row a step index, over the rows of all ranks and processes. Means are rounded half to even.
table::Table ReduceSteps(const std::vector<StepRow>& rows, RankReduce how);

}  // namespace layerscope::analysis

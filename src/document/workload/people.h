#pragma once

#include <vector>

#include "src/document/workload/figures.h"
#include "src/document/workload/input.h"
#include "src/table/result.h"

namespace layerscope::document {

/// What people see of a workload: the run in a few lines, percentiles, runs, both sides' figures.
std::vector<table::Block> WorkloadBlocks(const WorkloadInput& input,
                                         const WorkloadFigures& figures);

}  // namespace layerscope::document

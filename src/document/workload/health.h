#pragma once

#include <vector>

#include "src/document/workload/figures.h"
#include "src/document/workload/input.h"
#include "src/table/result.h"

namespace layerscope::document {

/// What is wrong with a workload: what of its files could not be used, and figures that contradict
/// each other.
std::vector<table::HealthEntry> WorkloadHealth(const WorkloadInput& input,
                                               const WorkloadFigures& figures);

}  // namespace layerscope::document

#pragma once

#include <cstdint>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/table/result.h"
#include "src/trace/trace.h"

namespace layerscope::attribution {

/// What the user must know before trusting the columns: work below graph launches, activities
/// without a launch, no module scopes, numbers in step names that overflow, sums that do not fit
/// (kError). One entry a cause, none when all is well.
std::vector<table::HealthEntry> ActivityWarnings(const trace::Trace& trace,
                                                 const Attribution& attribution,
                                                 int64_t n_step_numbers_dropped);

}  // namespace layerscope::attribution

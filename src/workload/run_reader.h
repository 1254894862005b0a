#pragma once

#include "src/workload/benchmark.h"
#include "src/workload/record.h"

namespace layerscope::workload {

/// Makes a run of one object of a result. What does not fit together is added to `losses`.
Run RunOf(Record record, Kind kind, LossCounter& losses);

/// Makes a request of one object of inference-perf's per_request_lifecycle_metrics.
Request LifecycleRequest(const Record& record, LossCounter& losses);

}  // namespace layerscope::workload

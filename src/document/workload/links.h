#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/analysis/analysis.h"
#include "src/table/value.h"
#include "src/workload/benchmark.h"

namespace layerscope::document {

/// The engine steps of a trace that ran while a request was in flight.
struct RequestSteps {
  int64_t first = 0;  ///< as `steps` counts
  int64_t last = 0;
  int64_t n = 0;  ///< 0: none
};

/// Requests linked to the steps of a trace. A client's clock and a trace's are the same only where
/// the requests, as they stand in the file, and the trace cover a common time: both count from
/// 1970, or both from the start of one machine. Else nothing is linked and `reason` says why.
struct RequestLinks {
  int64_t linked = 0;               ///< requests with a step
  std::string reason;               ///< why none are; empty where some are
  std::string advice;               ///< what to do about it; may be empty
  std::string trace;                ///< the file whose steps they are
  std::vector<RequestSteps> steps;  ///< one a request; empty where nothing is linked
};
RequestLinks LinkRequests(const std::vector<workload::Request>& requests,
                          const analysis::AnalysisInput& traces);

table::Object LinksObject(const RequestLinks& links);

}  // namespace layerscope::document

#pragma once

#include <optional>
#include <vector>

#include "src/analysis/analysis.h"
#include "src/document/workload/input.h"
#include "src/document/workload/links.h"
#include "src/document/workload/server_values.h"
#include "src/document/workload/summary.h"
#include "src/workload/statistics.h"

namespace layerscope::document {

/// Everything that is computed of a WorkloadInput, which must outlive it.
struct WorkloadFigures {
  WorkloadChoice choice;
  std::vector<RunSummary> summaries;          ///< one a run
  std::vector<std::vector<Comparison>> file;  ///< one a run; empty without requests
  const workload::Run* run = nullptr;         ///< the chosen one; null without runs
  const RunSummary* summary = nullptr;
  std::vector<Difference> differences;
  RequestLinks links;
  std::optional<workload::QueueSplit> split;  ///< of the times to the first token
};
WorkloadFigures ComputeFigures(const WorkloadInput& input, const WorkloadChoice& choice,
                               const analysis::AnalysisInput& traces);

}  // namespace layerscope::document

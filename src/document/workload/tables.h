#pragma once

#include <vector>

#include "src/document/workload/input.h"
#include "src/document/workload/server_values.h"
#include "src/document/workload/summary.h"
#include "src/table/table.h"

namespace layerscope::document {

/// One row a kind of time: n, mean, deviation, percentiles, extremes.
table::Table PercentileTable(const RunSummary& summary);
/// One row a run: what tells it from the others, and its main figures.
table::Table RunTable(const WorkloadInput& input, const std::vector<RunSummary>& summaries);
/// One row a figure that both the benchmark and the server have.
table::Table DifferenceTable(const std::vector<Difference>& differences);

/// What tells a run from the others: its file, where there are several ("a.json"), and the settings
/// that differ inside of its file ("request_rate 4"); empty for one run alone.
std::vector<std::string> RunLabels(const WorkloadInput& input);

}  // namespace layerscope::document

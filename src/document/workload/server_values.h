#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/document/workload/summary.h"
#include "src/table/value.h"
#include "src/workload/server_metrics.h"

namespace layerscope::document {

/// `server`: each metric of the engine by its name in the dump.
table::Object ServerObject(const workload::ServerMetrics& server);
/// `server_summary`: engine, models, and what the metrics say by what they are for (the name of the
/// metric stands beside each), whatever the version calls them.
table::Object ServerSummary(const workload::ServerMetrics& server, bool difference);

/// What kTtft and its like say of a time, in nanoseconds.
std::optional<int64_t> MeanNs(const workload::MetricFigures& figures);
std::optional<int64_t> QuantileNs(const workload::MetricFigures& figures, size_t percentile);
/// Hits of the prefix cache in parts per million of what was asked for.
std::optional<int64_t> PrefixHitPpm(const workload::ServerMetrics& server);
/// One number of a role: a counter's, a gauge's, or how many a histogram holds.
std::optional<double> NumberOf(const workload::ServerMetrics& server, workload::MetricRole role);

/// A figure that the benchmark and the server both have.
struct Difference {
  std::string what;  ///< "requests", "ttft.mean_ns"
  std::string metric;
  table::Value bench, server, difference;
  bool is_count = false;
  bool differs = false;
  /// Where `server` is a quantile of a histogram: no more than that. Absent: counted exactly.
  std::optional<workload::QuantileIs> server_is;
};
std::vector<Difference> CompareWithServer(const RunSummary& bench,
                                          const workload::ServerMetrics& server);
table::Array DifferenceArray(const std::vector<Difference>& differences);

}  // namespace layerscope::document

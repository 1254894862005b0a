#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/table/value.h"
#include "src/workload/benchmark.h"
#include "src/workload/statistics.h"

namespace layerscope::document {

/// Figures of one kind of time: "mean", "std", "min", "max", "p50", "p99.9", … in nanoseconds.
struct TimeFigures {
  std::optional<int64_t> n;  ///< values that they are of, where known
  std::vector<std::pair<std::string, int64_t>> stats;
  std::optional<int64_t> Of(std::string_view stat) const;
};

/// What a run comes to, from its requests or from the file's own figures.
struct RunSummary {
  bool from_requests = false;
  std::optional<int64_t> completed, failed, duration_ns, input_tokens, output_tokens;
  std::optional<double> request_throughput, output_token_throughput;  ///< a second
  /// By name: those of workload::kMeasures, then others that the file alone has.
  std::vector<std::pair<std::string, TimeFigures>> times;
  const TimeFigures* Times(std::string_view name) const;
};

/// From single requests where the run has any; absent otherwise. The duration is the file's, for
/// only the client knows when it began and ended; else first start to last end.
std::optional<RunSummary> SummaryOfRequests(const workload::Run& run);
/// The file's own figures.
RunSummary SummaryOfFile(const workload::Run& run);

table::Object SummaryObject(const RunSummary& summary);

/// One figure of a run twice: computed from its requests and as its file gives it.
struct Comparison {
  std::string what;  ///< "ttft.p99_ns", "completed", "request_throughput_per_s"
  table::Value ours, file, difference;
  bool agrees = true;  ///< to a millionth, or to a nanosecond
};
std::vector<Comparison> CompareSummaries(const RunSummary& ours, const RunSummary& file);
table::Array ComparisonArray(const std::vector<Comparison>& comparisons);

}  // namespace layerscope::document

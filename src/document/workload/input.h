#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/workload/benchmark.h"
#include "src/workload/server_metrics.h"

namespace layerscope::document {

/// A file that the document is made of.
struct WorkloadSource {
  std::string path;
  std::string kind;     ///< "vllm_bench", "prometheus", …
  std::string version;  ///< empty: its content does not tell
  std::string role;     ///< "bench", "server", "server_before"
  int64_t n_runs = 0;
  int64_t n_requests = 0;
};

struct WorkloadRun {
  size_t source = 0;  ///< in WorkloadInput::sources
  workload::Run run;
};

/// What of a WorkloadInput the document shows in full.
struct WorkloadChoice {
  std::optional<size_t> run{};  ///< of WorkloadInput::runs; absent without runs
  bool token_times = true;      ///< requests[].itl_ns
};

/// Everything that was read for one workload_data.json.
struct WorkloadInput {
  std::vector<WorkloadSource> sources;
  std::vector<WorkloadRun> runs;
  std::optional<workload::ServerMetrics> server;
  bool server_difference = false;  ///< of two dumps; else since the server's start
  /// Of each source: what could not be used.
  std::vector<std::vector<workload::Loss>> losses;
  WorkloadChoice choice;  ///< what the options ask for
};

}  // namespace layerscope::document

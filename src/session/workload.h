#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/analysis/analysis.h"
#include "src/base/result.h"
#include "src/document/json_document.h"
#include "src/session/loaded_run.h"

namespace layerscope::session {

/// The files that workload_data.json is made of. Each is opened once; "-" is standard input.
struct WorkloadFiles {
  /// Positional: benchmark results and Prometheus dumps, told apart by their content. Of several
  /// dumps the one with the lower counters is the snapshot before.
  std::vector<std::string> inputs;
  std::vector<std::string> bench;                ///< --bench
  std::optional<std::string> prometheus;         ///< --prometheus
  std::optional<std::string> prometheus_before;  ///< --prometheus-before
};

struct WorkloadOptions {
  /// Of several runs (a sweep, a JSONL) the one that `requests` and `summary` are of; absent: the
  /// first that holds single requests, else the first.
  std::optional<int64_t> run;
  /// Without it `requests[].itl_ns` is null: all else is the same and much smaller.
  bool token_times = true;
};

/// Whether a file is one that `workload` reads and not a trace: by its first bytes, unpacked; false
/// for "-", pipes, and what cannot be opened.
bool IsWorkloadFile(const std::string& path);

/// Parts the inputs of `workload` into its own files (IsWorkloadFile, and "-") and traces.
struct MixedInputs {
  std::vector<std::string> workload;
  std::vector<std::string> traces;
};
MixedInputs PartInputs(const std::vector<std::string>& inputs);

/// Reads the files and makes workload_data.json of them (formats/outputs.md; docs/workload.md). The
/// document owns its data. `traces`: traces of the same run, whose steps the requests are linked to
/// where both have one time base; empty = none. Its config names the model. kInvalidInput with the
/// file in front, by what it is, for a file that is none of these kinds; kNotFound for a run that
/// does not exist; kUsage without any file.
base::Result<document::JsonDocument> BuildWorkload(const WorkloadFiles& files,
                                                   const WorkloadOptions& options,
                                                   const analysis::AnalysisInput& traces);

}  // namespace layerscope::session

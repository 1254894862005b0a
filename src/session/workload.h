#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/analysis/analysis.h"
#include "src/base/result.h"
#include "src/document/json_document.h"
#include "src/document/workload/input.h"
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
  /// --memory-limit in bytes: kFailed where the files would need more.
  std::optional<int64_t> memory_limit{};
};

/// Enough to reach past the first long list of a result whose keys are sorted.
inline constexpr size_t kSniffBytes = size_t{256} << 10;

/// Whether a file is one that `workload` reads and not a trace: by its first bytes, unpacked; false
/// for "-", pipes, and what cannot be opened.
bool IsWorkloadFile(const std::string& path);

/// The files directly in a directory that IsWorkloadFile, by name.
std::vector<std::string> WorkloadFilesIn(const std::string& directory);
/// Whether a file directly in a directory looks like a recording by its content: JSON of other
/// kinds lies beside results too.
bool HoldsRecordings(const std::string& directory);

/// Parts the inputs of `workload` into its own files (IsWorkloadFile, and "-") and traces. Of a
/// directory those that lie in it, and the directory itself where it holds ranks too, or nothing.
struct MixedInputs {
  std::vector<std::string> workload;
  std::vector<std::string> traces;
};
MixedInputs PartInputs(const std::vector<std::string>& inputs);

/// Reads the files. kInvalidInput with the file in front, by what it is, for a file that is none of
/// these kinds, and for dumps that are not of one server; kNotFound for a run that does not exist;
/// kUsage without any file.
base::Result<document::WorkloadInput> ReadWorkload(const WorkloadFiles& files,
                                                   const WorkloadOptions& options);

/// `run` of the runs that were read, counted from 0. kNotFound, naming those that there are.
base::Result<size_t> FindRun(const document::WorkloadInput& input, int64_t run);

/// ReadWorkload, and workload_data.json made of it (formats/outputs.md; docs/workload.md). The
/// document owns its data. `traces`: traces of the same run, whose steps the requests are linked to
/// where both have one time base; empty = none. Its config names the model. kUsage where traces are
/// all there is; kInvalidInput for one that holds no event and does not look like a trace.
base::Result<document::JsonDocument> BuildWorkload(const WorkloadFiles& files,
                                                   const WorkloadOptions& options,
                                                   const analysis::AnalysisInput& traces);

}  // namespace layerscope::session

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/result.h"
#include "src/workload/kind.h"
#include "src/workload/loss.h"
#include "src/workload/record.h"

namespace layerscope::workload {

/// One request as the benchmark's client saw it. Times are in nanoseconds; absent: the file does
/// not say. Of a failed request only what it got as far as is there.
struct Request {
  std::optional<int64_t> start_ns;  ///< on the client's clock, whose zero is its own
  std::optional<int64_t> ttft_ns;   ///< from sending it to its first token
  std::optional<int64_t> e2e_ns;    ///< from sending it to its last token
  std::optional<int64_t> queue_ns;  ///< time in the client before it was sent (vLLM's queue_times)
  std::optional<int64_t> input_tokens;
  std::optional<int64_t> output_tokens;
  /// Times between two pieces of the answer, of which each may hold several tokens; kUnknown where
  /// one is missing. `has_itls`: the file has the list, maybe an empty one.
  std::vector<int64_t> itl_ns;
  bool has_itls = false;
  bool ok = true;
  std::string error;  ///< why it is not ok; may be empty

  std::optional<int64_t> DecodeNs() const;  ///< e2e - ttft
  /// The decode time over the tokens after the first; absent without two tokens.
  std::optional<int64_t> TpotNs() const;
};

/// A figure that the file itself gives of a run, as "ttft" and "p99".
struct Aggregate {
  std::string metric;  ///< "ttft", "tpot", "itl", "e2e", …
  std::string stat;    ///< "mean", "std", "min", "max", "p50", "p99.9", …
  int64_t ns = 0;
  std::string key;  ///< as it is named in the file
};

/// One run of a benchmark: an object of the file.
struct Run {
  std::optional<int64_t> completed;
  std::optional<int64_t> failed;
  std::optional<int64_t> duration_ns;
  std::optional<int64_t> input_tokens;
  std::optional<int64_t> output_tokens;
  std::optional<double> request_throughput;       ///< a second
  std::optional<double> output_token_throughput;  ///< a second
  std::vector<Aggregate> aggregates;
  std::vector<Request> requests;  ///< empty where the file has no lists of them
  std::string model;              ///< empty: not said
  std::string backend;            ///< empty: not said
  /// What else the file says of the run in plain values: how it was made, and figures of other
  /// units.
  std::vector<std::pair<std::string, Scalar>> parameters;
};

/// What a benchmark's file holds.
struct Benchmark {
  Kind kind = Kind::kUnknown;
  std::string version;  ///< of the set of keys, where that tells it: "before 2025-01"
  std::vector<Run> runs;
  std::vector<Loss> losses;
};

/// Reads the text of a result of one of the kinds that IsBenchmark names: one object, a list of
/// them, or one a line. kInvalidInput where it is none (by what it is), or cut in its first run;
/// later runs that are cut or no JSON are counted in `losses`.
base::Result<Benchmark> ParseBenchmark(std::string_view text);

}  // namespace layerscope::workload

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace layerscope::workload {

/// What the key of a run's own figure says: "p99_ttft_ms" is {"ttft", "p99", 6}.
struct AggregateKey {
  std::string metric;
  std::string stat;
  int power = 0;  ///< of ten, to nanoseconds
};

/// Keys of `vllm bench serve`, SGLang's bench_serving (milliseconds, "_ms") and InferenceX
/// (seconds, no unit): {mean, median, std, min, max, pN}_{ttft, tpot, itl, e2el, e2e_latency}.
/// nullopt for other keys. The median is p50.
std::optional<AggregateKey> ParseAggregateKey(std::string_view key);

/// Paths of inference-perf (seconds): "successes/latency/time_to_first_token/p99".
std::optional<AggregateKey> ParseLifecyclePath(std::string_view path);

}  // namespace layerscope::workload

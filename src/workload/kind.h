#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace layerscope::workload {

/// What a file holds.
enum class Kind : uint8_t {
  kUnknown,
  kVllmBench,              ///< `vllm bench serve --save-result`, also a sweep's summary
  kSglangBench,            ///< SGLang's bench_serving
  kSglangOneBatch,         ///< SGLang's bench_one_batch and bench_one_batch_server
  kInferenceX,             ///< like vLLM's, in seconds
  kInferencePerf,          ///< inference-perf's lifecycle metrics of a stage, or of all
  kInferencePerfRequests,  ///< inference-perf's per_request_lifecycle_metrics
  kPrometheus,             ///< text exposition
};

/// "vllm_bench", "prometheus", …: `sources[].kind`.
std::string_view ToString(Kind kind);
bool IsBenchmark(Kind kind);

/// The kind of a result by the keys of its object (its first, where it holds several).
Kind KindOfKeys(const std::vector<std::string>& keys);
/// The same where each of the file's objects stands for one request, or the file is a list.
Kind KindOfElementKeys(const std::vector<std::string>& keys);

/// Without the byte order mark that editors and PowerShell put in front of UTF-8.
std::string_view WithoutMark(std::string_view text);

/// By the first bytes of the unpacked file. A result whose first keys hold long lists, so that the
/// bytes do not reach the ones that tell vendors apart, is a kVllmBench here.
Kind SniffKind(std::string_view begin);

/// The hint for a file that is none of these.
inline constexpr std::string_view kWhatIsRead =
    "layerscope reads results of vllm bench serve, SGLang's bench_serving and bench_one_batch, "
    "inference-perf and InferenceX, and Prometheus text of vLLM and SGLang";

/// What ForeignName calls traces of PyTorch and others in their form.
inline constexpr std::string_view kProfilerTrace = "a profiler trace";
/// The same of a live model's modules.
inline constexpr std::string_view kModelTree = "a model_tree.json";

/// What a file is that is none of these, in words: "this is a Hugging Face config.json".
std::string ForeignName(std::string_view begin);

}  // namespace layerscope::workload

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace layerscope::attribution {

/// What an engine step does. kUnknown is null in outputs (a ProfilerStep says nothing).
enum class Phase : uint8_t { kUnknown, kPrefill, kDecode, kMixed, kDraft, kTargetVerify };
/// "prefill", "decode", "mixed", "draft", "target_verify"; empty for kUnknown.
std::string_view ToString(Phase phase);

/// What the text of a step's name says. Unknown numbers are absent, never 0.
struct StepFields {
  Phase phase = Phase::kUnknown;
  std::optional<int64_t> number;        ///< ProfilerStep#N, _forward_step N
  std::optional<int64_t> bench_number;  ///< bench_step::N
  std::optional<int64_t> requests;      ///< context + generation requests; SGLang: bs
  std::optional<int64_t> query_tokens;  ///< all query tokens of the step
  std::optional<int64_t> context_requests;
  std::optional<int64_t> context_tokens;
  std::optional<int64_t> generation_requests;
  std::optional<int64_t> generation_tokens;
  std::optional<int64_t> sum_kv;   ///< keys, context + generation
  std::optional<int64_t> sum_q2;   ///< squares of query lengths
  std::optional<int64_t> sum_qkv;  ///< products query × key length
  std::optional<int64_t> past;     ///< bench_step::…::past::P
  /// The name states requests, but no possible number of them: an outer name does not fill it.
  bool requests_dropped = false;
  int64_t n_out_of_range = 0;  ///< numbers that overflow or are none, and were dropped
};

/// Which tool wrote an annotation.
enum class StepFamily : uint8_t {
  kNone,      ///< not a step annotation
  kVllm,      ///< execute_…
  kSglang,    ///< step[MODE …]
  kTensorRt,  ///< [Executor] _forward_step …
  kBench,     ///< bench_step::N::bs::B::past::P
  kProfiler,  ///< ProfilerStep#N: counts only where no engine step lies inside
  kCapture,   ///< capture_<n>_<MODE>: a graph capture, not a step that serves
};

/// True for the families whose annotations are an engine's steps.
inline bool IsEngine(StepFamily family) {
  return family == StepFamily::kVllm || family == StepFamily::kSglang ||
         family == StepFamily::kTensorRt || family == StepFamily::kBench;
}

struct ParsedStep {
  StepFamily family = StepFamily::kNone;
  StepFields fields;
};

/// Reads an annotation's name in every form of formats/kineto.md, "Steps as the engines write
/// them", and TensorRT-LLM's `[Executor] _forward_step N: 1 ctx reqs, 512 ctx tks, 3 gen reqs`, of
/// which older versions write neither N nor tokens. A bench_step names no phase unless a field of
/// its own does (`::phase::decode`); fields that it may have besides are passed over. Numbers that
/// are negative, over 2^53, or that no lengths can have (sum of squares below the sum or over its
/// square) are int32 overflows in the writer: dropped and counted, as is a field of `key=value` or
/// `key::value` that is no whole number (`1e3`), a `bs` beyond int32, and a bench_step's of 0. An
/// `execute_…` name in none of the forms is a step of unknown fields.
ParsedStep ParseStepName(std::string_view name);

/// Fills what `inner` does not know, nor states wrongly, from `outer`.
void MergeFields(StepFields& inner, const StepFields& outer);

}  // namespace layerscope::attribution

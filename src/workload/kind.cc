#include "src/workload/kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "src/base/take_line.h"
#include "src/json/scanner.h"
#include "src/workload/record.h"

namespace layerscope::workload {
namespace {

using Token = json::Scanner::Token;

bool Has(const std::vector<std::string>& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

template <size_t n>
size_t CountOf(const std::vector<std::string>& keys, const std::array<std::string_view, n>& known) {
  return static_cast<size_t>(std::count_if(known.begin(), known.end(),
                                           [&](std::string_view key) { return Has(keys, key); }));
}

/// Keys that results of `vllm bench serve` and the tools that came of it share.
constexpr std::array<std::string_view, 22> kResultKeys = {"backend",
                                                          "burstiness",
                                                          "completed",
                                                          "date",
                                                          "duration",
                                                          "endpoint_type",
                                                          "failed",
                                                          "input_throughput",
                                                          "max_concurrency",
                                                          "median_ttft",
                                                          "median_ttft_ms",
                                                          "mean_ttft",
                                                          "mean_ttft_ms",
                                                          "model_id",
                                                          "num_prompts",
                                                          "output_throughput",
                                                          "request_rate",
                                                          "request_throughput",
                                                          "total_input_tokens",
                                                          "total_output_tokens",
                                                          "tokenizer_id",
                                                          "dataset_name"};
/// So many of them make a result: no other document has three.
constexpr size_t kEnoughKeys = 3;

bool InSeconds(const std::vector<std::string>& keys) {
  constexpr std::array<std::string_view, 8> kPlain = {"mean_ttft", "median_ttft", "p99_ttft",
                                                      "mean_tpot", "median_tpot", "p99_tpot",
                                                      "mean_e2el", "median_e2el"};
  return CountOf(keys, kPlain) > 0;
}

/// The keys of the first object of the text, as far as it goes: of the object itself, or of the
/// first element of a list.
struct FirstKeys {
  std::vector<std::string> keys;
  bool in_list = false;
  bool json = false;  ///< it begins like JSON
};

constexpr size_t kMostKeys = 400;

FirstKeys ReadFirstKeys(std::string_view begin) {
  json::Scanner scanner(begin);
  FirstKeys first;
  Token token = scanner.Next();
  first.json = token == Token::kBeginArray || token == Token::kBeginObject;
  if (token == Token::kBeginArray) {
    first.in_list = true;
    token = scanner.Next();
  }
  if (token != Token::kBeginObject) return first;
  while (first.keys.size() < kMostKeys && scanner.Next() == Token::kKey) {
    first.keys.emplace_back(scanner.text());
    if (!scanner.SkipValue()) break;
  }
  return first;
}

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == ':';
}

/// "name{…} 1.5" or "name 1.5".
bool LooksLikeSample(std::string_view line) {
  size_t at = 0;
  while (at < line.size() && IsNameCharacter(line[at])) ++at;
  if (at == 0 || at == line.size() || (line[0] >= '0' && line[0] <= '9')) return false;
  if (line[at] == '{') return line.find('}', at) != std::string_view::npos;
  if (line[at] != ' ' && line[at] != '\t') return false;
  const size_t value = line.find_first_not_of(" \t", at);
  if (value == std::string_view::npos) return false;
  const std::string_view rest = line.substr(value);
  return RealOf(rest.substr(0, rest.find_first_of(" \t\r"))).has_value();
}

bool LooksLikePrometheus(std::string_view begin) {
  constexpr int kLines = 20;
  for (int i = 0; i < kLines && !begin.empty(); ++i) {
    const std::string_view line = base::TakeLine(begin);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (line.starts_with("# HELP ") || line.starts_with("# TYPE ")) return true;
    if (line.starts_with('#')) continue;
    return LooksLikeSample(line);
  }
  return false;
}

std::string_view SchemaOf(std::string_view begin) {
  constexpr std::string_view kKey = "\"schema\"";
  const size_t at = begin.substr(0, 200).find(kKey);
  if (at == std::string_view::npos) return {};
  const size_t open = begin.find('"', at + kKey.size());
  if (open == std::string_view::npos) return {};
  const std::string_view text = begin.substr(open + 1, 80);
  return text.substr(0, text.find('"'));
}

/// JSON that people have and that is no workload.
std::string ForeignJson(const FirstKeys& first, std::string_view begin) {
  const std::vector<std::string>& keys = first.keys;
  const std::string_view schema = SchemaOf(begin);
  if (schema.starts_with("layerscope/workload/")) {
    return "a workload_data.json, which layerscope made of such files";
  }
  if (schema.starts_with("layerscope/"))
    return fmt::format("a document of layerscope ({})", schema);
  if (Has(keys, "traceEvents") || Has(keys, "schemaVersion") || Has(keys, "ph")) {
    return std::string(kProfilerTrace);
  }
  if (Has(keys, "rocprofiler-sdk-tool")) return "a rocprofv3 JSON";
  if (Has(keys, "layer_template") || Has(keys, "module_tree")) return "a model_execution.json";
  if (Has(keys, "tree") && Has(keys, "schema_version")) return std::string(kModelTree);
  if (Has(keys, "model_type") || Has(keys, "architectures")) return "a Hugging Face config.json";
  if (Has(keys, "avg_latency")) return "a result of `vllm bench latency`, which times no requests";
  if (Has(keys, "elapsed_time") && Has(keys, "requests_per_second")) {
    return "a result of `vllm bench throughput`, which times no requests";
  }
  if (Has(keys, "benchmark") && Has(keys, "metric")) {
    return "a record of PyTorch's benchmark database (.pytorch.json), made of a result";
  }
  if (Has(keys, "benchmarks")) return "a report of GuideLLM";
  if (Has(keys, "experiments") || Has(keys, "input_config"))
    return "an export of GenAI-Perf or AIPerf";
  if (keys.empty()) return first.in_list ? "a JSON list without objects" : "a JSON without keys";
  std::vector<std::string> some(
      keys.begin(), keys.begin() + static_cast<ptrdiff_t>(std::min<size_t>(keys.size(), 4)));
  for (std::string& key : some) key = key.substr(0, 40);
  return fmt::format("a JSON of another kind (its keys: {}{})", fmt::join(some, ", "),
                     keys.size() > some.size() ? ", …" : "");
}

}  // namespace

std::string_view WithoutMark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

std::string_view ToString(Kind kind) {
  constexpr std::array<std::string_view, 8> kNames = {"unknown",
                                                      "vllm_bench",
                                                      "sglang_bench",
                                                      "sglang_one_batch",
                                                      "inferencex",
                                                      "inference_perf",
                                                      "inference_perf_requests",
                                                      "prometheus"};
  return kNames.at(static_cast<size_t>(kind));
}

bool IsBenchmark(Kind kind) {
  return kind != Kind::kUnknown && kind != Kind::kPrometheus;
}

Kind KindOfKeys(const std::vector<std::string>& keys) {
  if (Has(keys, "traceEvents")) return Kind::kUnknown;
  if (Has(keys, "load_summary") || (Has(keys, "successes") && Has(keys, "failures"))) {
    return Kind::kInferencePerf;
  }
  if (Has(keys, "batch_size") && (Has(keys, "prefill_latency") || Has(keys, "total_latency") ||
                                  (Has(keys, "latency") && Has(keys, "overall_throughput")) ||
                                  Has(keys, "last_gen_throughput"))) {
    return Kind::kSglangOneBatch;
  }
  if (InSeconds(keys)) return Kind::kInferenceX;
  constexpr std::array<std::string_view, 5> kSglang = {
      "total_output_tokens_retokenized", "median_e2e_latency_ms", "mean_e2e_latency_ms",
      "sharegpt_output_len", "accept_length"};
  const size_t n = CountOf(keys, kResultKeys);
  if (CountOf(keys, kSglang) > 0 && n >= kEnoughKeys) return Kind::kSglangBench;
  return n >= kEnoughKeys ? Kind::kVllmBench : Kind::kUnknown;
}

Kind KindOfElementKeys(const std::vector<std::string>& keys) {
  constexpr std::array<std::string_view, 4> kTimes = {"start_time", "end_time", "request", "info"};
  if (CountOf(keys, kTimes) >= 3) return Kind::kInferencePerfRequests;
  return KindOfKeys(keys);
}

Kind SniffKind(std::string_view begin) {
  begin = WithoutMark(begin);
  const FirstKeys first = ReadFirstKeys(begin);
  if (first.json) return first.in_list ? KindOfElementKeys(first.keys) : KindOfKeys(first.keys);
  return LooksLikePrometheus(begin) ? Kind::kPrometheus : Kind::kUnknown;
}

std::string ForeignName(std::string_view begin) {
  begin = WithoutMark(begin);
  if (begin.find_first_not_of(" \t\r\n") == std::string_view::npos) return "empty";
  if (begin.starts_with("SQLite format 3")) return "an SQLite database";
  const FirstKeys first = ReadFirstKeys(begin);
  if (first.json) return ForeignJson(first, begin);
  if (LooksLikePrometheus(begin)) return "a Prometheus dump";
  constexpr std::string_view kControl("\0\1\2\3\4\5\6", 7);
  if (begin.substr(0, 512).find_first_of(kControl) != std::string_view::npos)
    return "a binary file";
  return "a text that is neither JSON nor Prometheus";
}

}  // namespace layerscope::workload

#include "src/workload/server_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "src/base/checked_sum.h"
#include "src/workload/decimal.h"
#include "src/workload/histogram.h"

namespace layerscope::workload {
namespace {

/// Names of a role, the newest first; a counter may have _total behind it.
struct RoleNames {
  MetricRole role;
  std::array<std::string_view, 5> names;
};
constexpr std::array<RoleNames, kRoles> kRoleNames = {{
    {MetricRole::kTtft, {"vllm:time_to_first_token_seconds", "sglang:time_to_first_token_seconds"}},
    // Until 0.11 vLLM called the time between tokens time_per_output_token; the request's mean is a
    // metric of its own. SGLang's time_per_output_token was the request's mean.
    {MetricRole::kTpot,
     {"vllm:request_time_per_output_token_seconds", "sglang:time_per_output_token_seconds"}},
    {MetricRole::kItl,
     {"vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds",
      "sglang:inter_token_latency_seconds"}},
    {MetricRole::kE2e, {"vllm:e2e_request_latency_seconds", "sglang:e2e_request_latency_seconds"}},
    {MetricRole::kQueue,
     {"vllm:request_queue_time_seconds", "vllm:time_in_queue_requests",
      "sglang:queue_time_seconds"}},
    {MetricRole::kPrefill, {"vllm:request_prefill_time_seconds"}},
    {MetricRole::kDecode, {"vllm:request_decode_time_seconds"}},
    {MetricRole::kRequests, {"vllm:request_success", "sglang:num_requests"}},
    {MetricRole::kPromptTokens, {"vllm:prompt_tokens", "sglang:prompt_tokens"}},
    {MetricRole::kGenerationTokens, {"vllm:generation_tokens", "sglang:generation_tokens"}},
    {MetricRole::kPreemptions, {"vllm:num_preemptions", "sglang:num_retracted_reqs"}},
    {MetricRole::kPrefixQueries, {"vllm:prefix_cache_queries", "vllm:gpu_prefix_cache_queries"}},
    {MetricRole::kPrefixHits,
     {"vllm:prefix_cache_hits", "vllm:gpu_prefix_cache_hits", "sglang:cached_tokens"}},
    {MetricRole::kKvCacheUsage,
     {"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "sglang:token_usage"}},
    {MetricRole::kRunning, {"vllm:num_requests_running", "sglang:num_running_reqs"}},
    {MetricRole::kWaiting, {"vllm:num_requests_waiting", "sglang:num_queue_reqs"}},
}};

bool IsTime(std::string_view name) {
  return name.ends_with("_seconds") || name == "vllm:time_in_queue_requests";
}

/// Gauges whose sum over engines means something.
bool AddsUp(std::string_view name) {
  return name.find("num_") != std::string_view::npos;
}

std::optional<double> Finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::vector<double> BoundsOf(const std::vector<Bucket>& buckets, bool in_seconds) {
  std::vector<double> bounds;
  for (const Bucket& bucket : buckets) {
    double upper = bucket.upper;
    if (in_seconds && std::isfinite(upper)) {
      const std::optional<int64_t> ns = ScaledDecimal(bucket.bound, kSeconds);
      upper = ns ? static_cast<double>(*ns) : upper * 1e9;
    }
    bounds.push_back(upper);
  }
  return bounds;
}

/// The mean in the unit of BoundsOf; absent where it is unknown.
std::optional<double> MeanOf(const MetricFigures& figures) {
  if (!figures.count || *figures.count <= 0) return std::nullopt;
  if (figures.sum_ns) return static_cast<double>(*figures.sum_ns) / *figures.count;
  return figures.sum ? std::optional(*figures.sum / *figures.count) : std::nullopt;
}

void AddQuantiles(const std::vector<Bucket>& buckets, bool in_seconds, MetricFigures& figures) {
  const std::vector<double> bounds = BoundsOf(buckets, in_seconds);
  if (!buckets.empty()) {
    figures.first_bound = Finite(bounds.front());
    figures.first_count = Finite(buckets.front().cumulative);
  }
  const std::optional<double> mean = MeanOf(figures);
  for (size_t i = 0; i < kPercentiles.size(); ++i) {
    const std::optional<Quantile> quantile =
        BoundedQuantile(bounds, buckets, static_cast<double>(kPercentiles.at(i)) / 100, mean);
    if (quantile && std::isfinite(quantile->value)) figures.quantiles.at(i) = quantile;
  }
}

/// The labels that all series have, with one value.
Labels Common(const std::vector<const Series*>& series) {
  Labels common = series.front()->labels;
  for (const Series* const one : series) {
    const std::set<std::pair<std::string, std::string>> labels(one->labels.begin(),
                                                               one->labels.end());
    common.erase(std::remove_if(common.begin(), common.end(),
                                [&](const auto& label) { return labels.count(label) == 0; }),
                 common.end());
  }
  return common;
}

/// The figures of some series added up.
MetricFigures FiguresOf(const Metric& metric, bool in_seconds,
                        const std::vector<const Series*>& series) {
  MetricFigures figures;
  figures.labels = Common(series);
  const bool parts = metric.type == MetricType::kHistogram || metric.type == MetricType::kSummary;
  double value = 0;
  double count = 0;
  double sum = 0;
  base::CheckedSum sum_ns;
  bool has_count = true;
  bool has_sum = true;
  bool exact = true;
  for (const Series* const one : series) {
    value += one->value;
    count += parts ? one->count : one->value;
    sum += one->sum;
    sum_ns.Add(one->sum_ns.value_or(0));
    has_count = has_count && (parts ? one->has_count : one->has_value);
    has_sum = has_sum && one->has_sum;
    exact = exact && one->sum_ns.has_value();
  }
  const bool counts = parts || metric.type == MetricType::kCounter;
  if (counts && has_count) figures.count = Finite(count);
  if (!counts && (series.size() == 1 || AddsUp(metric.name))) figures.value = Finite(value);
  if (parts && has_sum && !in_seconds) figures.sum = Finite(sum);
  if (parts && has_sum && in_seconds && exact && !sum_ns.overflowed()) {
    figures.sum_ns = sum_ns.value();
  }
  if (metric.type != MetricType::kHistogram) return figures;
  if (const std::optional<std::vector<Bucket>> buckets = AddBuckets(series)) {
    AddQuantiles(*buckets, in_seconds, figures);
  }
  return figures;
}

ServerMetric MetricOf(const Metric& metric, std::string_view canonical) {
  ServerMetric made;
  made.name = metric.name;
  made.type = metric.type;
  made.in_seconds = IsTime(canonical) &&
                    (metric.type == MetricType::kHistogram || metric.type == MetricType::kSummary);
  std::vector<const Series*> all;
  for (const Series& series : metric.series) all.push_back(&series);
  made.total = FiguresOf(metric, made.in_seconds, all);
  if (all.size() == 1) return made;
  for (const Series* const one : all)
    made.series.push_back(FiguresOf(metric, made.in_seconds, {one}));
  return made;
}

void AddUnique(std::vector<std::string>& list, const std::string& text) {
  constexpr size_t kMost = 1000;
  if (list.size() >= kMost || std::find(list.begin(), list.end(), text) != list.end()) return;
  list.push_back(text);
}

bool NamesEngine(std::string_view label) {
  return label == "engine" || label == "dp_rank" || label == "engine_id";
}

void NoteLabels(const Metric& metric, ServerMetrics& server) {
  for (const Series& series : metric.series) {
    for (const auto& [name, value] : series.labels) {
      if (name == "model_name") AddUnique(server.models, value);
      if (NamesEngine(name)) AddUnique(server.engines, value);
    }
  }
}

bool HasEngineLabel(const Metric& metric) {
  return std::any_of(metric.series.begin(), metric.series.end(), [](const Series& series) {
    return std::any_of(series.labels.begin(), series.labels.end(),
                       [](const auto& label) { return NamesEngine(label.first); });
  });
}

/// V0 has no engine label and its own names for the cache.
std::string VllmVersion(const Exposition& exposition) {
  const bool v1 =
      exposition.Find("vllm:kv_cache_usage_perc") != nullptr ||
      std::any_of(exposition.metrics.begin(), exposition.metrics.end(), [](const Metric& metric) {
        return !CanonicalName(metric.name).empty() && HasEngineLabel(metric);
      });
  if (v1) return "V1";
  const bool v0 = exposition.Find("vllm:cpu_cache_usage_perc") != nullptr ||
                  exposition.Find("vllm:num_requests_swapped") != nullptr;
  return v0 ? "V0" : std::string();
}

/// Series of one family are compared with each other only through maps, so a hostile dump costs
/// n log n; roles are looked up by name.
void FindRoles(const std::map<std::string, size_t>& by_name, ServerMetrics& server) {
  for (const RoleNames& role : kRoleNames) {
    for (const std::string_view name : role.names) {
      if (name.empty()) break;
      std::optional<size_t>& place = server.roles.at(static_cast<size_t>(role.role));
      for (const std::string& spelled : {std::string(name), std::string(name) + "_total"}) {
        const auto found = by_name.find(spelled);
        if (!place && found != by_name.end()) place = found->second;
      }
    }
  }
}

}  // namespace

std::string CanonicalName(std::string_view name) {
  if (name.starts_with("vllm:") || name.starts_with("sglang:")) return std::string(name);
  if (name.starts_with("ray_")) name.remove_prefix(4);
  for (const std::string_view engine : {"vllm", "sglang"}) {
    if (name.starts_with(engine) && name.substr(engine.size()).starts_with('_')) {
      return fmt::format("{}:{}", engine, name.substr(engine.size() + 1));
    }
  }
  return {};
}

std::string_view ToString(MetricRole role) {
  constexpr std::array<std::string_view, kRoles> kNames = {"ttft",
                                                           "tpot",
                                                           "itl",
                                                           "e2e",
                                                           "queue",
                                                           "prefill",
                                                           "decode",
                                                           "requests",
                                                           "prompt_tokens",
                                                           "generation_tokens",
                                                           "preemptions",
                                                           "prefix_cache_queries",
                                                           "prefix_cache_hits",
                                                           "kv_cache_usage",
                                                           "running",
                                                           "waiting"};
  return kNames.at(static_cast<size_t>(role));
}

const ServerMetric* ServerMetrics::Of(MetricRole role) const {
  const std::optional<size_t> index = roles.at(static_cast<size_t>(role));
  return index ? &metrics[*index] : nullptr;
}

base::Result<ServerEngine> EngineOf(const Exposition& exposition) {
  for (const Metric& metric : exposition.metrics) {
    const std::string canonical = CanonicalName(metric.name);
    if (canonical.empty()) continue;
    const std::string name = canonical.substr(0, canonical.find(':'));
    return ServerEngine{name, name == "vllm" ? VllmVersion(exposition) : std::string()};
  }
  return base::Error{
      base::ErrorCode::kInvalidInput,
      fmt::format("this is a Prometheus dump of neither vLLM nor SGLang (its first metric: {})",
                  exposition.metrics.empty() ? "none" : exposition.metrics.front().name),
      "save the answer of the inference server's /metrics"};
}

base::Result<ServerMetrics> BuildServerMetrics(const Exposition& exposition) {
  base::Result<ServerEngine> engine = EngineOf(exposition);
  if (!engine.ok()) return std::move(engine).error();
  ServerMetrics server;
  server.engine = std::move(engine->name);
  server.version = std::move(engine->version);
  std::map<std::string, size_t> by_name;
  for (const Metric& metric : exposition.metrics) {
    const std::string canonical = CanonicalName(metric.name);
    if (canonical.empty()) {
      ++server.n_other;
      continue;
    }
    by_name.emplace(canonical, server.metrics.size());
    NoteLabels(metric, server);
    server.metrics.push_back(MetricOf(metric, canonical));
  }
  FindRoles(by_name, server);
  server.losses = exposition.losses;
  return server;
}

}  // namespace layerscope::workload

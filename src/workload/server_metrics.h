#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"
#include "src/workload/histogram.h"
#include "src/workload/prometheus_text.h"

namespace layerscope::workload {

/// The percentiles that are given of every distribution.
inline constexpr std::array<int, 4> kPercentiles = {50, 90, 95, 99};

/// What a server says of one metric, of one series or of several added up. Absent: unknown, also
/// NaN and infinite.
struct MetricFigures {
  Labels labels;                ///< of the series; added up those that all have in common
  std::optional<double> value;  ///< of gauges, and of what has no type
  std::optional<double> count;  ///< of counters; of histograms the number of observations
  std::optional<double> sum;    ///< of histograms that are not of seconds
  std::optional<int64_t> sum_ns;
  std::array<std::optional<Quantile>, kPercentiles.size()> quantiles{};  ///< ns where of seconds
  /// The smallest bound of the histogram and what lies below it: of quantiles in there nothing is
  /// known but the bound.
  std::optional<double> first_bound;
  std::optional<double> first_count;
};

struct ServerMetric {
  std::string name;  ///< as in the dump
  MetricType type = MetricType::kUntyped;
  bool in_seconds = false;  ///< times: figures are in nanoseconds
  MetricFigures total;
  std::vector<MetricFigures> series;  ///< where there are several
};

/// What a metric is for, whatever a version of an engine calls it.
enum class MetricRole : uint8_t {
  kTtft,
  kTpot,
  kItl,
  kE2e,
  kQueue,
  kPrefill,
  kDecode,
  kRequests,
  kPromptTokens,
  kGenerationTokens,
  kPreemptions,
  kPrefixQueries,
  kPrefixHits,
  kKvCacheUsage,
  kRunning,
  kWaiting,
};
inline constexpr size_t kRoles = 16;
std::string_view ToString(MetricRole role);

/// The name with its engine in front, as the engines write it themselves: Ray writes `ray_vllm_…`
/// for `vllm:…`. Empty for a metric of nobody we know.
std::string CanonicalName(std::string_view name);

/// Whose a dump is.
struct ServerEngine {
  std::string name;     ///< "vllm" or "sglang"
  std::string version;  ///< "V0" or "V1" of vLLM where names tell; else empty
};
/// By the names and labels of the dump alone. kInvalidInput where it is of neither.
base::Result<ServerEngine> EngineOf(const Exposition& exposition);

/// The engine's metrics of one dump, or of the time between two.
struct ServerMetrics {
  std::string engine;                ///< "vllm" or "sglang"
  std::string version;               ///< "V0" or "V1" of vLLM where names tell; else empty
  std::vector<std::string> models;   ///< model_name of its series
  std::vector<std::string> engines;  ///< engine, dp_rank and their like
  std::vector<ServerMetric> metrics;
  std::array<std::optional<size_t>, kRoles> roles{};  ///< into metrics
  size_t n_other = 0;  ///< metrics of the process, of Python, of the HTTP server
  std::vector<Loss> losses;

  const ServerMetric* Of(MetricRole role) const;
};

/// Takes the engine's metrics out of a dump. Histograms of several models or engines are added up
/// where their bounds agree, counters always, gauges that count requests or tokens too; of other
/// gauges the total is unknown. kInvalidInput where the dump is of neither vLLM nor SGLang.
base::Result<ServerMetrics> BuildServerMetrics(const Exposition& exposition);

}  // namespace layerscope::workload

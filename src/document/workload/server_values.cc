#include "src/document/workload/server_values.h"

#include <array>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "src/base/format_number.h"
#include "src/table/or_null.h"

namespace layerscope::document {
namespace {

using table::Object;
using table::Value;
using workload::MetricFigures;
using workload::MetricRole;
using workload::ServerMetric;
using workload::ServerMetrics;

/// Prometheus writes every number as a float: whole ones are integers here.
Value NumberValue(const std::optional<double>& number) {
  if (!number) return {};
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (std::abs(*number) < kExact && std::trunc(*number) == *number) {
    return static_cast<int64_t>(*number);
  }
  return *number;
}

std::optional<int64_t> Whole(const std::optional<double>& number) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (!number || std::abs(*number) >= kExact) return std::nullopt;
  return static_cast<int64_t>(std::nearbyint(*number));
}

std::string_view WordOf(workload::QuantileIs is) {
  constexpr std::array<std::string_view, 3> kWords = {"estimate", "at_most", "at_least"};
  return kWords.at(static_cast<size_t>(is));
}

/// Null where the histogram has no finite bound.
Value FirstBucket(const ServerMetric& metric, const MetricFigures& figures) {
  if (!figures.first_bound) return {};
  const Value bound = metric.in_seconds ? table::OrNull(Whole(figures.first_bound))
                                        : NumberValue(figures.first_bound);
  return Object{{metric.in_seconds ? "le_ns" : "le", bound},
                {"count", NumberValue(figures.first_count)}};
}

Object LabelsObject(const workload::Labels& labels) {
  Object object;
  std::set<std::string_view> names;  // a damaged dump may say a label twice
  for (const auto& [name, value] : labels) {
    if (names.insert(name).second) object.emplace_back(name, value);
  }
  return object;
}

void AddHistogram(const ServerMetric& metric, const MetricFigures& figures, Object& object) {
  object.emplace_back("count", NumberValue(figures.count));
  if (metric.in_seconds) {
    object.emplace_back("sum_ns", table::OrNull(figures.sum_ns));
    object.emplace_back("mean_ns", table::OrNull(MeanNs(figures)));
  } else {
    object.emplace_back("sum", NumberValue(figures.sum));
    const bool divides = figures.sum && figures.count && *figures.count > 0;
    object.emplace_back("mean", divides ? Value(*figures.sum / *figures.count) : Value());
  }
  Object bounds;
  for (size_t i = 0; i < figures.quantiles.size(); ++i) {
    std::string key = "p" + std::to_string(workload::kPercentiles.at(i));
    if (metric.in_seconds) key += "_ns";
    const std::optional<workload::Quantile>& quantile = figures.quantiles.at(i);
    if (quantile && quantile->is != workload::QuantileIs::kEstimate) {
      bounds.emplace_back(key, WordOf(quantile->is));
    }
    if (metric.in_seconds) {
      object.emplace_back(key, table::OrNull(QuantileNs(figures, i)));
    } else {
      object.emplace_back(key, quantile ? Value(quantile->value) : Value());
    }
  }
  if (metric.type == workload::MetricType::kHistogram) {
    object.emplace_back("quantile_bounds", std::move(bounds));
    object.emplace_back("first_bucket", FirstBucket(metric, figures));
  }
}

Object FiguresObject(const ServerMetric& metric, const MetricFigures& figures) {
  Object object;
  switch (metric.type) {
    case workload::MetricType::kCounter:
      object.emplace_back("count", NumberValue(figures.count));
      break;
    case workload::MetricType::kHistogram:
    case workload::MetricType::kSummary:
      AddHistogram(metric, figures, object);
      break;
    default:
      object.emplace_back("value", NumberValue(figures.value));
  }
  object.emplace_back("labels", LabelsObject(figures.labels));
  return object;
}

Value Texts(const std::vector<std::string>& texts) {
  table::Array array;
  for (const std::string& text : texts) array.emplace_back(text);
  return array;
}

/// One number of a role.
Value RoleNumber(const ServerMetric& metric) {
  const bool counts = metric.type == workload::MetricType::kCounter ||
                      metric.type == workload::MetricType::kHistogram;
  return NumberValue(counts ? metric.total.count : metric.total.value);
}

bool IsTimeRole(MetricRole role) {
  return role <= MetricRole::kDecode;
}

Value RoleValue(const ServerMetrics& server, MetricRole role) {
  const ServerMetric* const metric = server.Of(role);
  if (metric == nullptr) return {};
  Object object = {{"metric", metric->name}};
  if (IsTimeRole(role)) {
    AddHistogram(*metric, metric->total, object);
  } else {
    object.emplace_back("value", RoleNumber(*metric));
  }
  return object;
}

class DifferenceList {
 public:
  void Count(const char* what, const std::optional<int64_t>& bench, const ServerMetric* metric) {
    if (!bench || metric == nullptr) return;
    const std::optional<int64_t> server = Whole(metric->total.count);
    if (server) Add(what, metric->name, *bench, *server, true);
  }
  void Mean(const std::string& what, const ServerMetric& metric, std::optional<int64_t> bench) {
    const std::optional<int64_t> server = MeanNs(metric.total);
    if (bench && server) Add(what, metric.name, *bench, *server, false);
  }
  void Percentile(const std::string& what, const ServerMetric& metric, std::optional<int64_t> bench,
                  size_t percentile) {
    const std::optional<int64_t> server = QuantileNs(metric.total, percentile);
    if (!bench || !server) return;
    Add(what, metric.name, *bench, *server, false);
    differences_.back().server_is = metric.total.quantiles.at(percentile)->is;
  }
  std::vector<Difference> Take() { return std::move(differences_); }

 private:
  void Add(std::string what, std::string metric, int64_t bench, int64_t server, bool is_count) {
    int64_t difference = 0;
    const bool fits = !__builtin_sub_overflow(bench, server, &difference);
    differences_.push_back({std::move(what), std::move(metric), bench, server,
                            fits ? Value(difference) : Value(), is_count, bench != server,
                            std::nullopt});
  }
  std::vector<Difference> differences_;
};

}  // namespace

std::optional<int64_t> MeanNs(const MetricFigures& figures) {
  const std::optional<int64_t> count = Whole(figures.count);
  if (!figures.sum_ns || !count || *count <= 0) return std::nullopt;
  return base::DivideHalfEven(*figures.sum_ns, *count);
}

std::optional<int64_t> QuantileNs(const MetricFigures& figures, size_t percentile) {
  const std::optional<workload::Quantile>& quantile = figures.quantiles.at(percentile);
  return quantile ? Whole(quantile->value) : std::nullopt;
}

std::optional<double> NumberOf(const ServerMetrics& server, MetricRole role) {
  const ServerMetric* const metric = server.Of(role);
  if (metric == nullptr) return std::nullopt;
  return metric->total.count ? metric->total.count : metric->total.value;
}

std::optional<int64_t> PrefixHitPpm(const ServerMetrics& server) {
  const std::optional<int64_t> hits = Whole(NumberOf(server, MetricRole::kPrefixHits));
  const MetricRole asked =
      server.engine == "sglang" ? MetricRole::kPromptTokens : MetricRole::kPrefixQueries;
  const std::optional<int64_t> queries = Whole(NumberOf(server, asked));
  if (!hits || !queries || *queries <= 0 || *hits < 0) return std::nullopt;
  return base::PartsPerMillion(*hits, *queries);
}

Object ServerObject(const ServerMetrics& server) {
  Object object;
  for (const ServerMetric& metric : server.metrics) {
    Object figures = {{"type", workload::ToString(metric.type)}};
    const Object total = FiguresObject(metric, metric.total);
    figures.insert(figures.end(), total.begin(), total.end());
    if (!metric.series.empty()) {
      table::Array series;
      for (const MetricFigures& one : metric.series)
        series.emplace_back(FiguresObject(metric, one));
      figures.emplace_back("series", std::move(series));
    }
    object.emplace_back(metric.name, std::move(figures));
  }
  return object;
}

Object ServerSummary(const ServerMetrics& server, bool difference) {
  Object object = {{"engine", server.engine},
                   {"version", table::TextOrNull(server.version)},
                   {"models", Texts(server.models)},
                   {"engines", Texts(server.engines)},
                   {"covers", difference ? "between_dumps" : "since_start"}};
  for (size_t i = 0; i < workload::kRoles; ++i) {
    const auto role = static_cast<MetricRole>(i);
    object.emplace_back(std::string(workload::ToString(role)), RoleValue(server, role));
  }
  object.emplace_back("prefix_hit_ppm", table::OrNull(PrefixHitPpm(server)));
  object.emplace_back("other_metrics", server.n_other);
  return object;
}

std::vector<Difference> CompareWithServer(const RunSummary& bench, const ServerMetrics& server) {
  DifferenceList list;
  list.Count("requests", bench.completed, server.Of(MetricRole::kRequests));
  list.Count("input_tokens", bench.input_tokens, server.Of(MetricRole::kPromptTokens));
  list.Count("output_tokens", bench.output_tokens, server.Of(MetricRole::kGenerationTokens));
  constexpr std::array<std::pair<const char*, MetricRole>, 4> kTimes = {
      {{"ttft", MetricRole::kTtft},
       {"tpot", MetricRole::kTpot},
       {"itl", MetricRole::kItl},
       {"e2e", MetricRole::kE2e}}};
  for (const auto& [name, role] : kTimes) {
    const TimeFigures* const times = bench.Times(name);
    const ServerMetric* const metric = server.Of(role);
    if (times == nullptr || metric == nullptr) continue;
    const std::string prefix = std::string(name) + ".";
    list.Mean(prefix + "mean_ns", *metric, times->Of("mean"));
    for (size_t i = 0; i < workload::kPercentiles.size(); ++i) {
      const std::string stat = "p" + std::to_string(workload::kPercentiles.at(i));
      list.Percentile(prefix + stat + "_ns", *metric, times->Of(stat), i);
    }
  }
  return list.Take();
}

table::Array DifferenceArray(const std::vector<Difference>& differences) {
  table::Array array;
  for (const Difference& one : differences) {
    array.emplace_back(Object{{"what", one.what},
                              {"metric", one.metric},
                              {"bench", one.bench},
                              {"server", one.server},
                              {"server_is", one.server_is ? WordOf(*one.server_is) : "exact"},
                              {"difference", one.difference}});
  }
  return array;
}

}  // namespace layerscope::document

#include "src/workload/impossible.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/workload/server_metrics.h"

namespace layerscope::workload {
namespace {

constexpr double kUnknownValue = std::numeric_limits<double>::quiet_NaN();
constexpr double kMostCounted = 9007199254740992.0;  // 2^53

/// NaN is what a client writes where it knows nothing: unknown already.
bool IsCount(double value) {
  return std::isnan(value) || (value >= 0 && value <= kMostCounted);
}

/// Gauges that are a part of one.
bool IsShare(std::string_view canonical) {
  return canonical.ends_with("cache_usage_perc") || canonical == "sglang:token_usage";
}

class Finding {
 public:
  void Add(const Metric& metric, std::string_view what) {
    ++n_;
    std::string text = fmt::format("{}: {}", metric.name, what);
    if (!texts_.empty() && texts_.back() == text) return;
    if (texts_.size() < kShown) {
      texts_.push_back(std::move(text));
    } else {
      more_ = true;
    }
  }
  void Say(std::vector<Loss>& losses) const {
    if (n_ == 0) return;
    losses.push_back({"impossible_value", true, n_,
                      fmt::format("Figures that cannot be are left out ({}{}).",
                                  fmt::join(texts_, "; "), more_ ? "; …" : "")});
  }

 private:
  static constexpr size_t kShown = 3;
  int64_t n_ = 0;
  std::vector<std::string> texts_;
  bool more_ = false;  ///< than the texts say
};

void CheckNumber(const Metric& metric, Series& series, Finding& finding) {
  const std::string canonical = CanonicalName(metric.name);
  const bool counts = metric.type == MetricType::kCounter ||
                      canonical.find(":num_") != std::string::npos ||
                      metric.name.ends_with("_total");
  const bool impossible = counts ? !IsCount(series.value)
                                 : IsShare(canonical) && !std::isnan(series.value) &&
                                       !(series.value >= 0 && series.value <= 1);
  if (!impossible) return;
  finding.Add(metric, counts ? "no count" : "no part of one");
  series.value = kUnknownValue;
}

bool Cumulative(const Series& series) {
  double below = 0;
  for (const Bucket& bucket : series.buckets) {
    if (!(bucket.cumulative >= below && bucket.cumulative <= kMostCounted)) return false;
    below = bucket.cumulative;
  }
  const bool whole = !series.buckets.empty() && std::isinf(series.buckets.back().upper);
  return !whole || !series.has_count || std::isnan(series.count) ||
         series.buckets.back().cumulative == series.count;
}

void CheckParts(const Metric& metric, Series& series, Finding& finding) {
  if (!Cumulative(series)) {
    finding.Add(metric, "buckets that are not cumulative");
    series.buckets.clear();
  }
  if (!IsCount(series.count)) {
    finding.Add(metric, "no count");
    series.count = kUnknownValue;
  }
  if (series.sum < 0) {
    finding.Add(metric, "a sum below zero");
    series.sum = kUnknownValue;
    series.sum_ns.reset();
  }
}

}  // namespace

void DropImpossible(Exposition& exposition) {
  Finding finding;
  for (Metric& metric : exposition.metrics) {
    if (CanonicalName(metric.name).empty()) continue;
    const bool parts = metric.type == MetricType::kHistogram || metric.type == MetricType::kSummary;
    for (Series& series : metric.series) {
      if (parts) {
        CheckParts(metric, series, finding);
      } else {
        CheckNumber(metric, series, finding);
      }
    }
  }
  finding.Say(exposition.losses);
}

}  // namespace layerscope::workload

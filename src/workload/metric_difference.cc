#include "src/workload/metric_difference.h"

#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace layerscope::workload {
namespace {

bool Counts(const Metric& metric) {
  return metric.type == MetricType::kCounter || metric.type == MetricType::kHistogram ||
         metric.type == MetricType::kSummary;
}

using SeriesIndex = std::unordered_map<std::string, const Series*>;

SeriesIndex IndexOf(const Metric& metric) {
  SeriesIndex index;
  for (const Series& series : metric.series) index.emplace(KeyOf(series.labels), &series);
  return index;
}

std::map<std::string_view, const Metric*> MetricsByName(const Exposition& exposition) {
  std::map<std::string_view, const Metric*> by_name;
  for (const Metric& metric : exposition.metrics) by_name.emplace(metric.name, &metric);
  return by_name;
}

bool SameBounds(const Series& a, const Series& b) {
  if (a.buckets.size() != b.buckets.size()) return false;
  for (size_t i = 0; i < a.buckets.size(); ++i) {
    if (a.buckets[i].upper != b.buckets[i].upper) return false;
  }
  return true;
}

bool WasReset(const Series& before, const Series& after) {
  if (after.value < before.value || after.count < before.count) return true;
  if (!SameBounds(before, after)) return true;
  for (size_t i = 0; i < after.buckets.size(); ++i) {
    if (after.buckets[i].cumulative < before.buckets[i].cumulative) return true;
  }
  return false;
}

void Subtract(const Series& before, Series& after) {
  after.value -= before.value;
  after.count -= before.count;
  after.sum -= before.sum;
  int64_t ns = 0;
  const bool fits =
      after.sum_ns && before.sum_ns && !__builtin_sub_overflow(*after.sum_ns, *before.sum_ns, &ns);
  after.sum_ns = fits ? std::optional(ns) : std::nullopt;
  for (size_t i = 0; i < after.buckets.size(); ++i) {
    after.buckets[i].cumulative -= before.buckets[i].cumulative;
  }
}

/// The total of a series that only grows.
double TotalOf(const Metric& metric, const Series& series) {
  return metric.type == MetricType::kCounter ? series.value : series.count;
}

}  // namespace

Exposition MetricDifference(const Exposition& before, Exposition after) {
  LossCounter losses;
  const std::map<std::string_view, const Metric*> earlier = MetricsByName(before);
  for (Metric& metric : after.metrics) {
    const auto found = earlier.find(metric.name);
    if (!Counts(metric) || found == earlier.end()) continue;
    const SeriesIndex index = IndexOf(*found->second);
    for (Series& series : metric.series) {
      const auto at = index.find(KeyOf(series.labels));
      if (at == index.end()) continue;
      if (WasReset(*at->second, series)) {
        losses.Add("counter_reset", true,
                   "Counters are smaller after than before: the server was started anew between "
                   "the two dumps, and what it counted before that is lost.");
      } else {
        Subtract(*at->second, series);
      }
    }
  }
  for (const Loss& loss : before.losses) after.losses.push_back(loss);
  for (Loss& loss : losses.Take()) after.losses.push_back(std::move(loss));
  return after;
}

bool IsEarlier(const Exposition& a, const Exposition& b) {
  const std::map<std::string_view, const Metric*> others = MetricsByName(b);
  int64_t balance = 0;
  for (const Metric& metric : a.metrics) {
    const auto found = others.find(metric.name);
    if (!Counts(metric) || found == others.end()) continue;
    const SeriesIndex index = IndexOf(*found->second);
    for (const Series& series : metric.series) {
      const auto at = index.find(KeyOf(series.labels));
      if (at == index.end()) continue;
      const double here = TotalOf(metric, series);
      const double there = TotalOf(metric, *at->second);
      balance += (here < there ? 1 : 0) - (here > there ? 1 : 0);
    }
  }
  return balance > 0;
}

}  // namespace layerscope::workload

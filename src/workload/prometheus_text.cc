#include "src/workload/prometheus_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "src/base/take_line.h"
#include "src/workload/decimal.h"
#include "src/workload/sample_line.h"

namespace layerscope::workload {
namespace {

/// The part of a family that a sample's name stands for.
enum class Part : uint8_t { kValue, kBucket, kCount, kSum };

struct Place {
  std::string_view family;
  Part part = Part::kValue;
};

/// "le" of buckets and "quantile" of summaries are no labels of the series.
std::string TakeLabel(Labels& labels, std::string_view name) {
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i].first != name) continue;
    std::string value = std::move(labels[i].second);
    labels.erase(labels.begin() + static_cast<std::ptrdiff_t>(i));
    return value;
  }
  return {};
}

class ExpositionReader {
 public:
  base::Result<Exposition> Read(std::string_view text);

 private:
  void ReadComment(std::string_view line);
  void ReadSample(const Sample& sample);
  Place PlaceOf(std::string_view name, bool has_bound) const;
  Metric& MetricOf(std::string_view family);
  Series& SeriesOf(Metric& metric, Labels labels);
  void ReadPart(const Sample& sample, Part part, Series& series);
  void Again(bool has_one);
  void OrderBuckets(std::vector<Bucket>& buckets);
  void Finish();

  struct Entry {
    size_t index = 0;                                ///< in metrics
    std::unordered_map<std::string, size_t> series;  ///< by KeyOf, into Metric::series
  };
  Exposition exposition_;
  std::map<std::string, Entry, std::less<>> entries_;
  LossCounter losses_;
};

Metric& ExpositionReader::MetricOf(std::string_view family) {
  const auto found = entries_.find(family);
  if (found != entries_.end()) return exposition_.metrics[found->second.index];
  Entry entry;
  entry.index = exposition_.metrics.size();
  entries_.emplace(std::string(family), std::move(entry));
  Metric& metric = exposition_.metrics.emplace_back();
  metric.name = family;
  return metric;
}

/// # HELP name text, # TYPE name word; other comments say nothing.
void ExpositionReader::ReadComment(std::string_view line) {
  const bool help = line.starts_with("# HELP ");
  if (!help && !line.starts_with("# TYPE ")) return;
  line.remove_prefix(7);
  const std::string_view name = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(name.size() + 1, line.size()));
  if (name.empty() || name.ends_with("_created")) return;
  Metric& metric = MetricOf(name);
  if (help) {
    metric.help = Unescaped(line);
    return;
  }
  constexpr std::array<MetricType, 5> kTypes = {MetricType::kUntyped, MetricType::kCounter,
                                                MetricType::kGauge, MetricType::kHistogram,
                                                MetricType::kSummary};
  for (const MetricType type : kTypes) {
    if (line == ToString(type)) metric.type = type;
  }
}

/// A family that is known under the name of the sample goes first: `iteration_tokens_total` is a
/// histogram's, `request_count` may be a counter's.
Place ExpositionReader::PlaceOf(std::string_view name, bool has_bound) const {
  constexpr std::array<std::pair<std::string_view, Part>, 3> kParts = {
      {{"_bucket", Part::kBucket}, {"_count", Part::kCount}, {"_sum", Part::kSum}}};
  for (const auto& [suffix, part] : kParts) {
    if (!name.ends_with(suffix)) continue;
    const std::string_view family = name.substr(0, name.size() - suffix.size());
    if (part == Part::kBucket && has_bound) return {family, part};
    const auto found = entries_.find(family);
    if (found == entries_.end()) continue;
    const MetricType type = exposition_.metrics[found->second.index].type;
    const Metric& metric = exposition_.metrics[found->second.index];
    const bool has_parts = type == MetricType::kHistogram || type == MetricType::kSummary ||
                           (!metric.series.empty() && !metric.series.front().buckets.empty());
    if (has_parts) return {family, part};
  }
  // OpenMetrics declares a counter without the _total that its samples have.
  if (name.ends_with("_total") && entries_.find(name) == entries_.end()) {
    const std::string_view family = name.substr(0, name.size() - 6);
    const auto found = entries_.find(family);
    if (found != entries_.end() &&
        exposition_.metrics[found->second.index].type == MetricType::kCounter) {
      return {family, Part::kValue};
    }
  }
  return {name, Part::kValue};
}

Series& ExpositionReader::SeriesOf(Metric& metric, Labels labels) {
  Entry& entry = entries_.find(metric.name)->second;
  const auto [at, is_new] = entry.series.try_emplace(KeyOf(labels), metric.series.size());
  if (is_new) metric.series.emplace_back().labels = std::move(labels);
  return metric.series[at->second];
}

void ExpositionReader::ReadSample(const Sample& sample) {
  if (sample.name.ends_with("_created")) return;
  Labels labels = sample.labels;
  const std::string bound = TakeLabel(labels, "le");
  const Place place = PlaceOf(sample.name, !bound.empty());
  Metric& metric = MetricOf(place.family);
  const bool quantile = metric.type == MetricType::kSummary && place.part == Part::kValue;
  if (quantile) TakeLabel(labels, "quantile");
  Series& series = SeriesOf(metric, std::move(labels));
  if (place.part != Part::kBucket) {
    // A quantile is of the client's own window: no figure of the run.
    if (!quantile) ReadPart(sample, place.part, series);
    return;
  }
  const std::optional<double> upper = ParseValue(bound);
  if (!upper || std::isnan(*upper)) {
    losses_.Add("bad_bucket", true, "Buckets of histograms have no bound and are left out.");
    return;
  }
  series.buckets.push_back({bound, *upper, sample.number});
}

void ExpositionReader::ReadPart(const Sample& sample, Part part, Series& series) {
  switch (part) {
    case Part::kBucket:
      return;
    case Part::kCount:
      Again(series.has_count);
      series.count = sample.number;
      series.has_count = true;
      return;
    case Part::kSum:
      Again(series.has_sum);
      series.sum = sample.number;
      series.has_sum = true;
      series.sum_ns = ScaledDecimal(sample.value, kSeconds);
      return;
    case Part::kValue:
      Again(series.has_value);
      series.value = sample.number;
      series.has_value = true;
      return;
  }
}

void ExpositionReader::Again(bool has_one) {
  if (!has_one) return;
  losses_.Add("duplicate_series", true,
              "Samples stand more than once for the same series; the last one counts.");
}

/// By bound; of several with one bound the last in the file.
void ExpositionReader::OrderBuckets(std::vector<Bucket>& buckets) {
  std::stable_sort(buckets.begin(), buckets.end(),
                   [](const Bucket& a, const Bucket& b) { return a.upper < b.upper; });
  size_t n_kept = 0;
  for (size_t i = 0; i < buckets.size(); ++i) {
    const bool again = n_kept > 0 && buckets[n_kept - 1].upper == buckets[i].upper;
    Again(again);
    if (!again) ++n_kept;
    if (n_kept - 1 != i) buckets[n_kept - 1] = std::move(buckets[i]);
  }
  buckets.resize(n_kept);
}

/// Types that no line gave, and the order of buckets.
void ExpositionReader::Finish() {
  for (Metric& metric : exposition_.metrics) {
    for (Series& series : metric.series) {
      std::vector<Bucket>& buckets = series.buckets;
      OrderBuckets(buckets);
      if (!buckets.empty() && metric.type == MetricType::kUntyped) {
        metric.type = MetricType::kHistogram;
      }
    }
    const bool counter = metric.type == MetricType::kUntyped && metric.name.ends_with("_total");
    if (counter) metric.type = MetricType::kCounter;
  }
  std::vector<Metric>& metrics = exposition_.metrics;
  metrics.erase(std::remove_if(metrics.begin(), metrics.end(),
                               [](const Metric& metric) { return metric.series.empty(); }),
                metrics.end());
}

base::Result<Exposition> ExpositionReader::Read(std::string_view text) {
  const bool ends_open = !text.empty() && text.back() != '\n';
  while (!text.empty()) {
    std::string_view line = base::TakeLine(text);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    if (line.starts_with('#')) {
      ReadComment(line);
      continue;
    }
    // The digits of a last line without its end may be cut.
    if (text.empty() && ends_open) {
      losses_.Add("truncated", true, "The dump is cut off: its last line is left out.");
      continue;
    }
    const std::optional<Sample> sample = ParseSample(line);
    if (sample) {
      ReadSample(*sample);
    } else {
      losses_.Add("bad_line", true, "Lines of the dump are no samples and are left out.");
    }
  }
  Finish();
  if (exposition_.metrics.empty()) {
    return base::Error{base::ErrorCode::kInvalidInput, "no line of this dump is a sample",
                       "save the whole answer of the server's /metrics"};
  }
  exposition_.losses = losses_.Take();
  return std::move(exposition_);
}

}  // namespace

std::string_view ToString(MetricType type) {
  constexpr std::array<std::string_view, 5> kNames = {"untyped", "counter", "gauge", "histogram",
                                                      "summary"};
  return kNames.at(static_cast<size_t>(type));
}

/// The lengths keep neighbours apart.
std::string KeyOf(const Labels& labels) {
  std::string key;
  for (const auto& [name, value] : labels) {
    key += fmt::format("{}:{}{}:{}", name.size(), name, value.size(), value);
  }
  return key;
}

const Metric* Exposition::Find(std::string_view name) const {
  for (const Metric& metric : metrics) {
    if (metric.name == name) return &metric;
  }
  return nullptr;
}

base::Result<Exposition> ParseExposition(std::string_view text) {
  return ExpositionReader().Read(text);
}

}  // namespace layerscope::workload

#include "src/workload/metric_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "src/workload/server_metrics.h"

namespace layerscope::workload {
namespace {

bool Counts(MetricType type) {
  return type == MetricType::kCounter || type == MetricType::kHistogram ||
         type == MetricType::kSummary;
}

/// The other name that a counter may have: OpenMetrics declares it without the _total that its
/// samples have, and a dump without a TYPE has the samples alone.
std::string OtherSpelling(const std::string& name) {
  constexpr std::string_view kTotal = "_total";
  if (name.ends_with(kTotal)) return name.substr(0, name.size() - kTotal.size());
  return name + std::string(kTotal);
}

bool MayBeCounter(MetricType type) {
  return type == MetricType::kCounter || type == MetricType::kUntyped;
}

/// The labels of a series in whatever order a dump writes them.
std::string KeyOfSorted(const Series& series) {
  Labels labels = series.labels;
  std::sort(labels.begin(), labels.end());
  return KeyOf(labels);
}

/// Finds the series of a dump by their metrics and labels.
class SeriesIndex {
 public:
  explicit SeriesIndex(const Exposition& exposition) {
    for (const Metric& metric : exposition.metrics) {
      Family& family = families_[metric.name];
      family.type = metric.type;
      for (const Series& series : metric.series) {
        family.series.emplace(KeyOfSorted(series), &series);
      }
    }
  }

  /// The series as this dump has it; null where it does not.
  const Series* Find(const Metric& metric, const Series& series) const {
    const Family* const family = FamilyOf(metric);
    if (family == nullptr) return nullptr;
    const auto found = family->series.find(KeyOfSorted(series));
    return found == family->series.end() ? nullptr : found->second;
  }
  /// What this dump says that the metric is; kUntyped where it has none of its name.
  MetricType TypeOf(const Metric& metric) const {
    const Family* const family = FamilyOf(metric);
    return family == nullptr ? MetricType::kUntyped : family->type;
  }

 private:
  struct Family {
    MetricType type = MetricType::kUntyped;
    std::unordered_map<std::string, const Series*> series;
  };

  const Family* FamilyOf(const Metric& metric) const {
    const auto same = families_.find(metric.name);
    if (same != families_.end()) return &same->second;
    if (!MayBeCounter(metric.type)) return nullptr;
    const auto other = families_.find(OtherSpelling(metric.name));
    const bool fits = other != families_.end() && MayBeCounter(other->second.type);
    return fits ? &other->second : nullptr;
  }

  std::map<std::string, Family, std::less<>> families_;
};

/// The type of a metric that one of two dumps does not say.
MetricType TypeOfBoth(const Metric& metric, const SeriesIndex& other) {
  return metric.type == MetricType::kUntyped ? other.TypeOf(metric) : metric.type;
}

bool SameBounds(const Series& a, const Series& b) {
  if (a.buckets.size() != b.buckets.size()) return false;
  for (size_t i = 0; i < a.buckets.size(); ++i) {
    if (a.buckets[i].upper != b.buckets[i].upper) return false;
  }
  return true;
}

/// Buckets that were dropped (DropImpossible) say nothing of a restart.
bool WasReset(const Series& before, const Series& after) {
  if (after.value < before.value || after.count < before.count) return true;
  if (before.buckets.empty() || after.buckets.empty()) return false;
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
  if (before.buckets.empty()) after.buckets.clear();
  for (size_t i = 0; i < after.buckets.size(); ++i) {
    after.buckets[i].cumulative -= before.buckets[i].cumulative;
  }
}

/// The total of a series that only grows.
double TotalOf(MetricType type, const Series& series) {
  return type == MetricType::kCounter ? series.value : series.count;
}

std::set<std::string> ModelsOf(const Exposition& exposition) {
  std::set<std::string> models;
  for (const Metric& metric : exposition.metrics) {
    for (const Series& series : metric.series) {
      for (const auto& [name, value] : series.labels) {
        if (name == "model_name") models.insert(value);
      }
    }
  }
  return models;
}

base::Status CheckModels(const Exposition& before, const Exposition& after) {
  const std::set<std::string> earlier = ModelsOf(before);
  const std::set<std::string> later = ModelsOf(after);
  const bool apart = !earlier.empty() && !later.empty() &&
                     std::none_of(earlier.begin(), earlier.end(), [&](const std::string& model) {
                       return later.count(model) != 0;
                     });
  if (!apart) return {};
  return base::Error{
      base::ErrorCode::kInvalidInput,
      fmt::format("the two dumps are of different models ({} and {}), so their difference says "
                  "nothing",
                  *earlier.begin(), *later.begin()),
      "give two dumps of one server, from before and after the run"};
}

/// Whether a counter of the engine has counted in this dump. A server that has not served yet may
/// show none at all: SGLang's appear with the first request.
bool HasCounted(const Exposition& exposition, const SeriesIndex& other) {
  for (const Metric& metric : exposition.metrics) {
    const MetricType type = TypeOfBoth(metric, other);
    if (!Counts(type) || CanonicalName(metric.name).empty()) continue;
    for (const Series& series : metric.series) {
      if (TotalOf(type, series) > 0) return true;
    }
  }
  return false;
}

/// What has no earlier value, for the message: metrics in order of the dump.
class NewSeries {
 public:
  void Add(const Metric& metric) {
    ++n_;
    if (names_.empty() || names_.back() != metric.name) names_.push_back(metric.name);
  }
  void Say(LossCounter& losses) const {
    if (n_ == 0) return;
    constexpr size_t kShown = 3;
    const auto shown = static_cast<std::ptrdiff_t>(std::min(names_.size(), kShown));
    losses.Add("no_earlier_value", false,
               fmt::format("The earlier dump lacks series of {}{}: they count from the server's "
                           "start.",
                           fmt::join(names_.begin(), names_.begin() + shown, ", "),
                           names_.size() > kShown
                               ? fmt::format(" and {} more metrics", names_.size() - kShown)
                               : ""),
               n_);
  }

 private:
  int64_t n_ = 0;
  std::vector<std::string> names_;
};

}  // namespace

base::Result<Exposition> MetricDifference(const Exposition& before, Exposition after) {
  if (base::Status same = CheckModels(before, after); !same.ok()) return std::move(same).error();
  LossCounter losses;
  NewSeries added;
  const SeriesIndex earlier(before);
  int64_t n_counting = 0;
  int64_t n_common = 0;
  for (Metric& metric : after.metrics) {
    metric.type = TypeOfBoth(metric, earlier);
    if (!Counts(metric.type)) continue;
    // Every program of the language has the counters of the process.
    const bool of_engine = !CanonicalName(metric.name).empty();
    for (Series& series : metric.series) {
      n_counting += of_engine ? 1 : 0;
      const Series* const first = earlier.Find(metric, series);
      if (first == nullptr) {
        if (of_engine && TotalOf(metric.type, series) > 0) added.Add(metric);
        continue;
      }
      n_common += of_engine ? 1 : 0;
      if (WasReset(*first, series)) {
        losses.Add("counter_reset", true,
                   "Counters are smaller after than before: the server was started anew between "
                   "the two dumps, and what it counted before that is lost.");
      } else {
        Subtract(*first, series);
      }
    }
  }
  if (n_counting > 0 && n_common == 0 && HasCounted(before, SeriesIndex(after))) {
    return base::Error{base::ErrorCode::kInvalidInput,
                       "the two dumps have no counter in common, by names and labels",
                       "give two dumps of one server, from before and after the run"};
  }
  added.Say(losses);
  for (const Loss& loss : before.losses) after.losses.push_back(loss);
  for (Loss& loss : losses.Take()) after.losses.push_back(std::move(loss));
  return after;
}

bool IsEarlier(const Exposition& a, const Exposition& b) {
  const SeriesIndex others(b);
  int64_t balance = 0;
  for (const Metric& metric : a.metrics) {
    const MetricType type = TypeOfBoth(metric, others);
    if (!Counts(type)) continue;
    for (const Series& series : metric.series) {
      const Series* const other = others.Find(metric, series);
      if (other == nullptr) continue;
      const double here = TotalOf(type, series);
      const double there = TotalOf(type, *other);
      balance += (here < there ? 1 : 0) - (here > there ? 1 : 0);
    }
  }
  return balance > 0;
}

}  // namespace layerscope::workload

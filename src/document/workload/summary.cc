#include "src/document/workload/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/base/checked_sum.h"
#include "src/table/or_null.h"

namespace layerscope::document {
namespace {

using table::Object;
using table::Value;
using workload::Request;

/// What every distribution has, known or not.
constexpr std::array<const char*, 6> kAlways = {"mean", "std", "p50", "p90", "p95", "p99"};

Value RealOrNull(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Value(*value) : Value();
}

TimeFigures FiguresOf(const workload::Distribution& of) {
  TimeFigures figures;
  figures.n = of.n;
  const auto add = [&](std::string stat, const std::optional<int64_t>& ns) {
    if (ns) figures.stats.emplace_back(std::move(stat), *ns);
  };
  add("mean", of.mean_ns);
  add("std", of.std_ns);
  for (size_t i = 0; i < of.percentiles.size(); ++i) {
    add("p" + std::to_string(workload::kPercentiles.at(i)), of.percentiles.at(i));
  }
  add("min", of.min_ns);
  add("max", of.max_ns);
  return figures;
}

Value TimesValue(const TimeFigures& figures) {
  if (figures.stats.empty()) return {};
  Object object;
  for (const char* const stat : kAlways) {
    object.emplace_back(std::string(stat) + "_ns", table::OrNull(figures.Of(stat)));
  }
  for (const auto& [stat, ns] : figures.stats) {
    const bool there = std::find(kAlways.begin(), kAlways.end(), stat) != kAlways.end();
    if (!there) object.emplace_back(stat + "_ns", ns);
  }
  object.emplace_back("n", table::OrNull(figures.n));
  return object;
}

std::optional<double> PerSecond(std::optional<int64_t> count, std::optional<int64_t> duration_ns) {
  if (!count || !duration_ns || *duration_ns <= 0) return std::nullopt;
  return static_cast<double>(*count) / (static_cast<double>(*duration_ns) * 1e-9);
}

/// First start to last end of requests whose times are known.
std::optional<int64_t> SpanOf(const std::vector<Request>& requests) {
  int64_t first = std::numeric_limits<int64_t>::max();
  int64_t last = std::numeric_limits<int64_t>::min();
  for (const Request& request : requests) {
    if (!request.start_ns || !request.e2e_ns) continue;
    first = std::min(first, *request.start_ns);
    last = std::max(last, base::AddClamped(*request.start_ns, *request.e2e_ns));
  }
  int64_t span = 0;
  if (last < first || __builtin_sub_overflow(last, first, &span)) return std::nullopt;
  return span;
}

/// The sum over requests that succeeded; absent where none of them says it.
std::optional<int64_t> TokensOf(const std::vector<Request>& requests,
                                std::optional<int64_t> Request::*member) {
  base::CheckedSum sum;
  bool any = false;
  for (const Request& request : requests) {
    if (!request.ok || !(request.*member)) continue;
    sum.Add(*(request.*member));
    any = true;
  }
  return any && !sum.overflowed() ? std::optional(sum.value()) : std::nullopt;
}

bool Near(double a, double b, double least) {
  return std::abs(a - b) <= std::max(least, std::abs(b) * 1e-6);
}

class Comparer {
 public:
  void Count(const char* what, const std::optional<int64_t>& ours,
             const std::optional<int64_t>& file) {
    if (ours && file) Add(what, *ours, *file, 0);
  }
  void Time(const std::string& what, std::optional<int64_t> ours, int64_t file) {
    if (ours) Add(what, *ours, file, 1);
  }
  void Rate(const char* what, const std::optional<double>& ours,
            const std::optional<double>& file) {
    if (!ours || !file) return;
    comparisons_.push_back({what, *ours, *file, *ours - *file, Near(*ours, *file, 0)});
  }
  std::vector<Comparison> Take() { return std::move(comparisons_); }

 private:
  void Add(const std::string& what, int64_t ours, int64_t file, double least) {
    int64_t difference = 0;
    const bool fits = !__builtin_sub_overflow(ours, file, &difference);
    const bool agrees = least > 0
                            ? Near(static_cast<double>(ours), static_cast<double>(file), least)
                            : ours == file;
    comparisons_.push_back({what, ours, file, fits ? Value(difference) : Value(), agrees});
  }
  std::vector<Comparison> comparisons_;
};

}  // namespace

std::optional<int64_t> TimeFigures::Of(std::string_view stat) const {
  for (const auto& [name, ns] : stats) {
    if (name == stat) return ns;
  }
  return std::nullopt;
}

const TimeFigures* RunSummary::Times(std::string_view name) const {
  for (const auto& [measure, figures] : times) {
    if (measure == name) return &figures;
  }
  return nullptr;
}

std::optional<RunSummary> SummaryOfRequests(const workload::Run& run) {
  if (run.requests.empty()) return std::nullopt;
  RunSummary summary;
  summary.from_requests = true;
  const auto failed = std::count_if(run.requests.begin(), run.requests.end(),
                                    [](const Request& request) { return !request.ok; });
  summary.failed = failed;
  summary.completed = static_cast<int64_t>(run.requests.size()) - failed;
  summary.duration_ns = run.duration_ns ? run.duration_ns : SpanOf(run.requests);
  summary.input_tokens = TokensOf(run.requests, &Request::input_tokens);
  summary.output_tokens = TokensOf(run.requests, &Request::output_tokens);
  summary.request_throughput = PerSecond(summary.completed, summary.duration_ns);
  summary.output_token_throughput = PerSecond(summary.output_tokens, summary.duration_ns);
  for (size_t i = 0; i < workload::kMeasures.size(); ++i) {
    const auto measure = static_cast<workload::Measure>(i);
    summary.times.emplace_back(
        workload::kMeasures.at(i),
        FiguresOf(workload::Summarise(workload::ValuesOf(run.requests, measure))));
  }
  return summary;
}

RunSummary SummaryOfFile(const workload::Run& run) {
  RunSummary summary;
  summary.completed = run.completed;
  summary.failed = run.failed;
  summary.duration_ns = run.duration_ns;
  summary.input_tokens = run.input_tokens;
  summary.output_tokens = run.output_tokens;
  summary.request_throughput =
      run.request_throughput ? run.request_throughput : PerSecond(run.completed, run.duration_ns);
  summary.output_token_throughput = run.output_token_throughput
                                        ? run.output_token_throughput
                                        : PerSecond(run.output_tokens, run.duration_ns);
  for (const char* const measure : workload::kMeasures)
    summary.times.emplace_back(measure, TimeFigures());
  for (const workload::Aggregate& aggregate : run.aggregates) {
    auto at = std::find_if(summary.times.begin(), summary.times.end(),
                           [&](const auto& named) { return named.first == aggregate.metric; });
    if (at == summary.times.end()) {
      at = summary.times.emplace(summary.times.end(), aggregate.metric, TimeFigures());
    }
    std::vector<std::pair<std::string, int64_t>>& stats = at->second.stats;
    const auto same = std::find_if(stats.begin(), stats.end(),
                                   [&](const auto& stat) { return stat.first == aggregate.stat; });
    if (same == stats.end()) stats.emplace_back(aggregate.stat, aggregate.ns);
  }
  return summary;
}

Object SummaryObject(const RunSummary& summary) {
  Object object = {{"from", summary.from_requests ? "requests" : "file"},
                   {"completed", table::OrNull(summary.completed)},
                   {"failed", table::OrNull(summary.failed)},
                   {"duration_ns", table::OrNull(summary.duration_ns)},
                   {"input_tokens", table::OrNull(summary.input_tokens)},
                   {"output_tokens", table::OrNull(summary.output_tokens)},
                   {"request_throughput_per_s", RealOrNull(summary.request_throughput)},
                   {"output_token_throughput_per_s", RealOrNull(summary.output_token_throughput)}};
  for (const auto& [name, figures] : summary.times) object.emplace_back(name, TimesValue(figures));
  return object;
}

std::vector<Comparison> CompareSummaries(const RunSummary& ours, const RunSummary& file) {
  Comparer comparer;
  comparer.Count("completed", ours.completed, file.completed);
  comparer.Count("failed", ours.failed, file.failed);
  comparer.Count("input_tokens", ours.input_tokens, file.input_tokens);
  comparer.Count("output_tokens", ours.output_tokens, file.output_tokens);
  comparer.Rate("request_throughput_per_s", ours.request_throughput, file.request_throughput);
  comparer.Rate("output_token_throughput_per_s", ours.output_token_throughput,
                file.output_token_throughput);
  for (const auto& [name, figures] : file.times) {
    const TimeFigures* const mine = ours.Times(name);
    if (mine == nullptr) continue;
    for (const auto& [stat, ns] : figures.stats) {
      comparer.Time(name + "." + stat + "_ns", mine->Of(stat), ns);
    }
  }
  return comparer.Take();
}

table::Array ComparisonArray(const std::vector<Comparison>& comparisons) {
  table::Array array;
  for (const Comparison& one : comparisons) {
    array.emplace_back(Object{{"what", one.what},
                              {"ours", one.ours},
                              {"file", one.file},
                              {"difference", one.difference},
                              {"agrees", one.agrees}});
  }
  return array;
}

}  // namespace layerscope::document

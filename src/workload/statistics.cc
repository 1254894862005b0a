#include "src/workload/statistics.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/base/checked_sum.h"
#include "src/base/format_number.h"

namespace layerscope::workload {
namespace {

/// Of sorted values; none is above kLongestNs, so that the products fit.
int64_t PercentileOf(const std::vector<int64_t>& sorted, int percent) {
  const auto n = static_cast<int64_t>(sorted.size());
  const int64_t place = (n - 1) * percent;
  const auto index = static_cast<size_t>(place / 100);
  const int64_t share = place % 100;
  if (share == 0) return sorted[index];
  const int64_t low = sorted[index];
  const int64_t high = sorted[index + 1];
  return base::DivideHalfEven(low * (100 - share) + high * share, 100);
}

int64_t Rounded(double value) {
  return static_cast<int64_t>(std::nearbyint(value));
}

void AddKnown(const std::optional<int64_t>& value, std::vector<int64_t>& values) {
  if (value && *value >= 0) values.push_back(*value);
}

}  // namespace

Distribution Summarise(std::vector<int64_t> times) {
  Distribution of;
  of.n = static_cast<int64_t>(times.size());
  if (times.empty()) return of;
  std::sort(times.begin(), times.end());
  of.min_ns = times.front();
  of.max_ns = times.back();
  base::CheckedSum sum;
  double total = 0;
  for (const int64_t ns : times) {
    sum.Add(ns);
    total += static_cast<double>(ns);
  }
  const double mean = total / static_cast<double>(of.n);
  of.mean_ns = sum.overflowed() ? std::clamp(Rounded(mean), times.front(), times.back())
                                : base::DivideHalfEven(sum.value(), of.n);
  double squares = 0;
  for (const int64_t ns : times) {
    const double off = static_cast<double>(ns) - mean;
    squares += off * off;
  }
  of.std_ns = Rounded(std::sqrt(squares / static_cast<double>(of.n)));
  for (size_t i = 0; i < kPercentiles.size(); ++i) {
    of.percentiles.at(i) = PercentileOf(times, kPercentiles.at(i));
  }
  return of;
}

std::vector<int64_t> ValuesOf(const std::vector<Request>& requests, Measure measure) {
  std::vector<int64_t> values;
  for (const Request& request : requests) {
    if (!request.ok) continue;
    switch (measure) {
      case Measure::kTtft:
        AddKnown(request.ttft_ns, values);
        break;
      case Measure::kTpot:
        AddKnown(request.TpotNs(), values);
        break;
      case Measure::kItl:
        for (const int64_t ns : request.itl_ns) {
          if (ns != kUnknown) values.push_back(ns);
        }
        break;
      case Measure::kE2e:
        AddKnown(request.e2e_ns, values);
        break;
      case Measure::kQueue:
        AddKnown(request.queue_ns, values);
        break;
    }
  }
  return values;
}

std::vector<ConcurrencyStep> ConcurrencyOf(const std::vector<Request>& requests) {
  std::vector<std::pair<int64_t, int64_t>> changes;
  for (const Request& request : requests) {
    int64_t end = 0;
    if (!request.start_ns || !request.e2e_ns ||
        __builtin_add_overflow(*request.start_ns, *request.e2e_ns, &end)) {
      continue;
    }
    changes.emplace_back(*request.start_ns, 1);
    changes.emplace_back(end, -1);
  }
  std::sort(changes.begin(), changes.end());
  std::vector<ConcurrencyStep> steps;
  int64_t n = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    n += changes[i].second;
    const bool last_of_moment = i + 1 == changes.size() || changes[i + 1].first != changes[i].first;
    if (!last_of_moment) continue;
    const int64_t before = steps.empty() ? 0 : steps.back().n;
    if (n != before) steps.push_back({changes[i].first, n});
  }
  return steps;
}

std::optional<QueueSplit> SplitQueue(std::vector<int64_t> times) {
  times.erase(std::remove_if(times.begin(), times.end(), [](int64_t ns) { return ns <= 0; }),
              times.end());
  const auto n = static_cast<int64_t>(times.size());
  const int64_t smallest = std::max(kSmallestGroup, n / 50);
  if (n < 2 * smallest) return std::nullopt;
  std::sort(times.begin(), times.end());
  std::vector<double> logs;
  double total = 0;
  for (const int64_t ns : times) {
    logs.push_back(std::log(static_cast<double>(ns)));
    total += logs.back();
  }
  const double mean = total / static_cast<double>(n);
  double variance = 0;
  for (const double value : logs) variance += (value - mean) * (value - mean);
  if (!(variance > 0)) return std::nullopt;
  double below = 0;
  double best = 0;
  int64_t cut = 0;
  for (int64_t k = 1; k < n; ++k) {
    below += logs[static_cast<size_t>(k - 1)] - mean;
    // The sums of the groups are opposite: between = below² (1/k + 1/(n - k)).
    const double between =
        below * below * (1 / static_cast<double>(k) + 1 / static_cast<double>(n - k));
    if (between > best) {
      best = between;
      cut = k;
    }
  }
  if (cut < smallest || n - cut < smallest) return std::nullopt;
  const auto low = static_cast<double>(times[static_cast<size_t>(cut - 1)]);
  const auto high = static_cast<double>(times[static_cast<size_t>(cut)]);
  QueueSplit split{Rounded(std::sqrt(low) * std::sqrt(high)), cut, n - cut, best / variance};
  if (split.explained < kExplained || high < kGap * low) return std::nullopt;
  return split;
}

}  // namespace layerscope::workload

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "src/workload/benchmark.h"
#include "src/workload/server_metrics.h"

namespace layerscope::workload {

/// Figures of a set of times. A percentile is numpy's "linear" one, as vLLM and SGLang compute
/// theirs: at position (n - 1) × p / 100 of the sorted values, linear between neighbours; the
/// deviation is that of the population (numpy.std). Rounded half to even.
struct Distribution {
  int64_t n = 0;
  std::optional<int64_t> mean_ns, std_ns, min_ns, max_ns;
  std::array<std::optional<int64_t>, kPercentiles.size()> percentiles{};
};
Distribution Summarise(std::vector<int64_t> times);

/// What is measured of each request.
enum class Measure : uint8_t { kTtft, kTpot, kItl, kE2e, kQueue };
inline constexpr std::array<const char*, 5> kMeasures = {"ttft", "tpot", "itl", "e2e", "queue"};

/// The known values of the requests that succeeded; the gaps of `itl` one by one.
std::vector<int64_t> ValuesOf(const std::vector<Request>& requests, Measure measure);

/// Requests in flight from a point in time on. A request is in flight from its start until its last
/// token, that moment not included; one of unknown start or length is in none.
struct ConcurrencyStep {
  int64_t t_ns = 0;  ///< on the clock of the requests
  int64_t n = 0;
};
std::vector<ConcurrencyStep> ConcurrencyOf(const std::vector<Request>& requests);

/// Where times fall into two groups, the point between them: of requests that had to wait and those
/// that had not. By Otsu's method (IEEE Trans. SMC 9, 1979) on the logarithms: the cut with the
/// largest variance between the groups. nullopt, for they do not separate, unless both groups hold
/// at least kSmallestGroup values and a fiftieth of all, the cut explains kExplained of the
/// variance (the best cut of a uniform distribution explains 3/4, of a normal one 2/π), and the
/// upper group begins kGap times above the end of the lower one.
struct QueueSplit {
  int64_t threshold_ns = 0;  ///< the geometric middle of the gap
  int64_t n_below = 0;
  int64_t n_above = 0;
  double explained = 0;  ///< share of the variance
};
inline constexpr int64_t kSmallestGroup = 2;
inline constexpr double kExplained = 0.8;
inline constexpr double kGap = 1.25;
std::optional<QueueSplit> SplitQueue(std::vector<int64_t> times);

}  // namespace layerscope::workload

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/workload/prometheus_text.h"

namespace layerscope::workload {

/// The q-quantile (0 to 1) of a classic histogram as Prometheus's histogram_quantile estimates it
/// (promql/quantile.go, bucketQuantile): linear inside the bucket that holds the rank q × count,
/// the lowest bucket beginning at 0; where the rank lies in the bucket up to +Inf, the largest
/// finite bound. Cumulative counts that fall are taken as the largest before them. nullopt where
/// Prometheus answers NaN: without a +Inf bucket and another, or without observations. `bounds`:
/// the upper bounds in the unit of the answer, one a bucket (+Inf as infinity).
std::optional<double> HistogramQuantile(const std::vector<double>& bounds,
                                        const std::vector<Bucket>& buckets, double q);

/// What a quantile of a histogram is.
enum class QuantileIs : uint8_t {
  kEstimate,  ///< linear inside its bucket
  kAtMost,    ///< a bound: the estimate would contradict the mean, or be a guess
  kAtLeast,   ///< a bound: so too, or it lies above the largest finite bound
};

struct Quantile {
  double value = 0;
  QuantileIs is = QuantileIs::kEstimate;
};

/// HistogramQuantile, held against the mean of the same observations, none of which is negative:
/// the part 1 - q of them is not smaller than the quantile, so it is at most mean / (1 - q)
/// (Markov's inequality); by the same of the distances from the highest bucket's bound M it is at
/// least M - (M - mean) / q. An estimate outside of that is replaced by the limit, and said to be
/// one. So is an estimate in the first bucket, which nothing supports: the quantile is at most the
/// bucket's bound. `mean` is in the unit of the bounds; absent or not finite: nothing is held
/// against it.
std::optional<Quantile> BoundedQuantile(const std::vector<double>& bounds,
                                        const std::vector<Bucket>& buckets, double q,
                                        std::optional<double> mean);

/// The buckets of several series with the same bounds, added; nullopt where the bounds differ.
std::optional<std::vector<Bucket>> AddBuckets(const std::vector<const Series*>& series);

}  // namespace layerscope::workload

#pragma once

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

/// The buckets of several series with the same bounds, added; nullopt where the bounds differ.
std::optional<std::vector<Bucket>> AddBuckets(const std::vector<const Series*>& series);

}  // namespace layerscope::workload

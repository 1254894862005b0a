#include "src/workload/histogram.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace layerscope::workload {

std::optional<double> HistogramQuantile(const std::vector<double>& bounds,
                                        const std::vector<Bucket>& buckets, double q) {
  const size_t n = buckets.size();
  if (n < 2 || bounds.size() != n || !std::isinf(bounds.back()) || bounds.back() < 0) {
    return std::nullopt;
  }
  std::vector<double> cumulative(n);
  double so_far = 0;
  for (size_t i = 0; i < n; ++i) {
    so_far = std::max(so_far, buckets[i].cumulative);  // also passes over NaN
    cumulative[i] = so_far;
  }
  if (!(so_far > 0) || !std::isfinite(so_far)) return std::nullopt;
  const double rank = q * so_far;
  const auto at = static_cast<size_t>(
      std::lower_bound(cumulative.begin(), cumulative.end() - 1, rank) - cumulative.begin());
  if (at == n - 1) return bounds[n - 2];
  if (at == 0 && bounds[0] <= 0) return bounds[0];
  const double below = at == 0 ? 0 : cumulative[at - 1];
  const double start = at == 0 ? 0 : bounds[at - 1];
  return start + (bounds[at] - start) * ((rank - below) / (cumulative[at] - below));
}

std::optional<Quantile> BoundedQuantile(const std::vector<double>& bounds,
                                        const std::vector<Bucket>& buckets, double q,
                                        std::optional<double> mean) {
  const std::optional<double> estimate = HistogramQuantile(bounds, buckets, q);
  if (!estimate) return std::nullopt;
  const size_t n = buckets.size();
  const double total = buckets[n - 1].cumulative;
  const bool above_all = q * total > buckets[n - 2].cumulative;
  if (above_all) return Quantile{*estimate, QuantileIs::kAtLeast};
  // Below the first bound nothing says where: linear inside of it would be a guess.
  const bool in_first = bounds.front() > 0 && q * total <= buckets.front().cumulative;
  const auto within = [&](double most) {
    return in_first ? Quantile{std::min(bounds.front(), most), QuantileIs::kAtMost}
                    : Quantile{*estimate};
  };
  // Limits that the estimate meets but for the last digit of a float are met.
  constexpr double kSlack = 1e-9;
  if (!mean || !std::isfinite(*mean) || *mean < 0 || bounds.front() < 0) {
    return within(std::numeric_limits<double>::infinity());
  }
  const double most = *mean / (1 - q);
  if (*estimate > most * (1 + kSlack)) return Quantile{most, QuantileIs::kAtMost};
  const auto highest = std::find_if(buckets.begin(), buckets.end(), [&](const Bucket& bucket) {
    return bucket.cumulative >= total;
  });
  const double bound = bounds[static_cast<size_t>(highest - buckets.begin())];
  const double least = bound - (bound - *mean) / q;
  const bool below = std::isfinite(bound) && *estimate < least * (1 - kSlack);
  return below ? Quantile{least, QuantileIs::kAtLeast} : within(most);
}

std::optional<std::vector<Bucket>> AddBuckets(const std::vector<const Series*>& series) {
  std::vector<Bucket> sum;
  for (const Series* const one : series) {
    if (sum.empty()) {
      sum = one->buckets;
      continue;
    }
    if (one->buckets.size() != sum.size()) return std::nullopt;
    for (size_t i = 0; i < sum.size(); ++i) {
      if (sum[i].upper != one->buckets[i].upper) return std::nullopt;
      sum[i].cumulative += one->buckets[i].cumulative;
    }
  }
  return sum;
}

}  // namespace layerscope::workload

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/result.h"
#include "src/workload/loss.h"

namespace layerscope::workload {

/// In the order of the file; `le` and `quantile` of a series stand in its points.
using Labels = std::vector<std::pair<std::string, std::string>>;

enum class MetricType : uint8_t { kUntyped, kCounter, kGauge, kHistogram, kSummary };
/// "untyped", "counter", …
std::string_view ToString(MetricType type);

/// One bucket of a histogram: observations up to a bound, all smaller ones included.
struct Bucket {
  std::string bound;  ///< as written: "0.005", "+Inf"
  double upper = 0;   ///< the same as a number
  double cumulative = 0;
};

/// One set of labels of a metric.
struct Series {
  Labels labels;
  double value = 0;  ///< of counters, gauges and untyped ones; may be NaN or infinite
  bool has_value = false;
  std::vector<Bucket> buckets;  ///< by bound, ascending
  double count = 0;             ///< `_count` of histograms and summaries
  bool has_count = false;
  double sum = 0;  ///< `_sum` of histograms and summaries
  bool has_sum = false;
  std::optional<int64_t> sum_ns;  ///< the same exactly, where it is one of seconds
};

struct Metric {
  std::string name;  ///< of the family: without _bucket, _count, _sum
  std::string help;
  MetricType type = MetricType::kUntyped;
  std::vector<Series> series;
};

/// One text for a set of labels, to find a series by.
std::string KeyOf(const Labels& labels);

/// One dump of a server's /metrics.
struct Exposition {
  std::vector<Metric> metrics;  ///< in the order of the file, without `_created` series
  std::vector<Loss> losses;
  const Metric* Find(std::string_view name) const;
};

/// Reads Prometheus's text format (0.0.4) and the parts of OpenMetrics that its clients write: HELP
/// and TYPE, escapes in labels, timestamps, exemplars, NaN and infinities. A metric without a TYPE
/// is a histogram when it has buckets, a counter when its name ends in _total. Lines that cannot be
/// read and a cut last line are counted in `losses`. kInvalidInput where no line is a sample.
base::Result<Exposition> ParseExposition(std::string_view text);

}  // namespace layerscope::workload

// A benchmark's result and a Prometheus dump of any bytes: refused, or with figures that hold.
#include <string_view>

#include "src/base/check.h"
#include "src/workload/benchmark.h"
#include "src/workload/kind.h"
#include "src/workload/metric_difference.h"
#include "src/workload/prometheus_text.h"
#include "src/workload/server_metrics.h"
#include "src/workload/statistics.h"

#include "tests/fuzz/target.h"

namespace workload = layerscope::workload;

namespace {

void CheckRequests(const std::vector<workload::Request>& requests) {
  for (size_t i = 0; i < workload::kMeasures.size(); ++i) {
    const auto measure = static_cast<workload::Measure>(i);
    const workload::Distribution of = workload::Summarise(workload::ValuesOf(requests, measure));
    if (of.n == 0) continue;
    LS_CHECK(*of.min_ns <= *of.mean_ns && *of.mean_ns <= *of.max_ns, "the mean lies inside");
    LS_CHECK(of.percentiles.front() <= of.percentiles.back(), "percentiles ascend");
  }
  int64_t last = 0;
  for (const workload::ConcurrencyStep& step : workload::ConcurrencyOf(requests)) {
    LS_CHECK(step.n >= 0, "no fewer requests than none are in flight");
    last = step.n;
  }
  LS_CHECK(last == 0, "every request ends");
  (void)workload::SplitQueue(workload::ValuesOf(requests, workload::Measure::kTtft));
}

void ReadBenchmark(std::string_view text) {
  const auto benchmark = workload::ParseBenchmark(text);
  if (!benchmark.ok()) {
    LS_CHECK(!benchmark.error().message.empty(), "a refusal says why");
    return;
  }
  LS_CHECK(workload::IsBenchmark(benchmark->kind), "a result has a kind");
  for (const workload::Run& run : benchmark->runs) CheckRequests(run.requests);
}

void ReadDump(std::string_view text) {
  const size_t middle = text.size() / 2;
  auto whole = workload::ParseExposition(text);
  auto part = workload::ParseExposition(text.substr(0, middle));
  if (!whole.ok()) {
    LS_CHECK(!whole.error().message.empty(), "a refusal says why");
    return;
  }
  (void)workload::BuildServerMetrics(*whole);
  if (!part.ok()) return;
  (void)workload::IsEarlier(*part, *whole);
  const auto difference = workload::MetricDifference(*part, *std::move(whole));
  if (difference.ok()) {
    (void)workload::BuildServerMetrics(*difference);
  } else {
    LS_CHECK(!difference.error().message.empty(), "a refusal says why");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)workload::SniffKind(text);
  LS_CHECK(!workload::ForeignName(text).empty(), "every file is something");
  ReadBenchmark(text);
  ReadDump(text);
  return 0;
}

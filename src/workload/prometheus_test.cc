#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "src/workload/histogram.h"
#include "src/workload/metric_difference.h"
#include "src/workload/prometheus_text.h"
#include "src/workload/server_metrics.h"

namespace layerscope::workload {
namespace {

Exposition Parsed(std::string_view text) {
  base::Result<Exposition> exposition = ParseExposition(text);
  EXPECT_TRUE(exposition.ok()) << exposition.error().message;
  return exposition.ok() ? *std::move(exposition) : Exposition();
}

ServerMetrics Built(const Exposition& exposition) {
  base::Result<ServerMetrics> server = BuildServerMetrics(exposition);
  EXPECT_TRUE(server.ok()) << server.error().message;
  return server.ok() ? *std::move(server) : ServerMetrics();
}

std::string Ttft(const char* count, const char* sum, const char* engine = "0") {
  const std::string labels = std::string("engine=\"") + engine + "\"";
  const std::string name = "vllm:time_to_first_token_seconds";
  return "# TYPE " + name + " histogram\n" + name + "_bucket{" + labels + ",le=\"0.1\"} 0.0\n" +
         name + "_bucket{" + labels + ",le=\"0.5\"} " + count + "\n" + name + "_bucket{" + labels +
         ",le=\"+Inf\"} " + count + "\n" + name + "_count{" + labels + "} " + count + "\n" + name +
         "_sum{" + labels + "} " + sum + "\n";
}

TEST(ParseExposition, ReadsEveryFormOfALine) {
  const Exposition exposition = Parsed(
      "# HELP vllm:x Some \\\\ text\\nmore\n"
      "# TYPE vllm:x gauge\n"
      "# a comment\n"
      "vllm:x{a=\"q\\\"u\\\\o\\nte\",b=\"}, \",} 1.5e+1 1772000000000\n"
      "  vllm:x { a = \"2\" }  NaN \r\n"
      "\n"
      "vllm:y_total 3 # {trace=\"7\"} 1\n"
      "vllm:z +Inf\n");
  ASSERT_EQ(exposition.metrics.size(), 3U);
  const Metric& x = exposition.metrics[0];
  EXPECT_EQ(x.help, "Some \\ text\nmore");
  EXPECT_EQ(x.type, MetricType::kGauge);
  ASSERT_EQ(x.series.size(), 2U);
  EXPECT_EQ(x.series[0].labels, (Labels{{"a", "q\"u\\o\nte"}, {"b", "}, "}}));
  EXPECT_EQ(x.series[0].value, 15);
  EXPECT_TRUE(std::isnan(x.series[1].value));
  EXPECT_EQ(exposition.metrics[1].type, MetricType::kCounter);
  EXPECT_EQ(exposition.metrics[2].type, MetricType::kUntyped);
  EXPECT_TRUE(exposition.losses.empty());
}

TEST(ParseExposition, HistogramsAreOneMetric) {
  const Exposition exposition = Parsed(Ttft("4.0", "1.25"));
  ASSERT_EQ(exposition.metrics.size(), 1U);
  const Series& series = exposition.metrics[0].series[0];
  EXPECT_EQ(series.buckets.size(), 3U);
  EXPECT_EQ(series.count, 4);
  EXPECT_EQ(series.sum_ns, 1'250'000'000);
  EXPECT_EQ(series.labels, (Labels{{"engine", "0"}}));
}

TEST(ParseExposition, LeavesCreatedSeriesOut) {
  const Exposition exposition = Parsed(
      "# TYPE vllm:a counter\nvllm:a_total 1\n# TYPE vllm:a_created gauge\nvllm:a_created 1.7e9\n");
  ASSERT_EQ(exposition.metrics.size(), 1U);
  EXPECT_EQ(exposition.metrics[0].name, "vllm:a");  // OpenMetrics: without _total
}

TEST(ParseExposition, AHistogramMayEndInTotal) {
  const Exposition exposition = Parsed(
      "# TYPE vllm:iteration_tokens_total histogram\n"
      "vllm:iteration_tokens_total_bucket{le=\"1\"} 1\n"
      "vllm:iteration_tokens_total_bucket{le=\"+Inf\"} 2\n"
      "vllm:iteration_tokens_total_count 2\nvllm:iteration_tokens_total_sum 9\n");
  ASSERT_EQ(exposition.metrics.size(), 1U);
  EXPECT_EQ(exposition.metrics[0].series[0].sum, 9);
}

TEST(ParseExposition, CountsWhatItCannotRead) {
  const Exposition exposition = Parsed("vllm:a 1\nnonsense\nvllm:b{x=\"1\n} 2\nvllm:c 12");
  ASSERT_EQ(exposition.metrics.size(), 1U);
  ASSERT_EQ(exposition.losses.size(), 2U);
  EXPECT_EQ(exposition.losses[0].code, "bad_line");
  EXPECT_EQ(exposition.losses[0].count, 3);
  EXPECT_EQ(exposition.losses[1].code, "truncated");
}

TEST(ParseExposition, EveryCutIsReadOrRefused) {
  const std::string whole = Ttft("4.0", "1.25") + "vllm:b_total{a=\"\\\"\"} 1 2\n";
  for (size_t n = 0; n <= whole.size(); ++n) {
    const base::Result<Exposition> cut = ParseExposition(std::string_view(whole).substr(0, n));
    EXPECT_TRUE(cut.ok() || !cut.error().message.empty()) << n;
  }
}

// By hand, after promql/quantile.go: rank = q × count, linear in its bucket.
TEST(HistogramQuantile, IsLinearInsideABucket) {
  const std::vector<Bucket> buckets = {
      {"1", 1, 2}, {"2", 2, 6}, {"4", 4, 10}, {"+Inf", INFINITY, 12}};
  const std::vector<double> bounds = {1, 2, 4, INFINITY};
  EXPECT_DOUBLE_EQ(*HistogramQuantile(bounds, buckets, 0.5), 2);      // rank 6
  EXPECT_DOUBLE_EQ(*HistogramQuantile(bounds, buckets, 0.25), 1.25);  // rank 3
  EXPECT_DOUBLE_EQ(*HistogramQuantile(bounds, buckets, 1.0 / 12), 0.5);
  EXPECT_DOUBLE_EQ(*HistogramQuantile(bounds, buckets, 0.99), 4);  // above the last finite bound
}

TEST(HistogramQuantile, IsUnknownWhereNothingSaysIt) {
  EXPECT_EQ(HistogramQuantile({1, INFINITY}, {{"1", 1, 0}, {"+Inf", INFINITY, 0}}, 0.5),
            std::nullopt);
  EXPECT_EQ(HistogramQuantile({1, 2}, {{"1", 1, 1}, {"2", 2, 2}}, 0.5), std::nullopt);
  EXPECT_EQ(HistogramQuantile({INFINITY}, {{"+Inf", INFINITY, 2}}, 0.5), std::nullopt);
}

TEST(HistogramQuantile, TakesCountsThatFallAsTheLargestBefore) {
  const std::vector<Bucket> buckets = {{"1", 1, 4}, {"2", 2, 3}, {"+Inf", INFINITY, 4}};
  EXPECT_DOUBLE_EQ(*HistogramQuantile({1, 2, INFINITY}, buckets, 0.5), 0.5);
}

TEST(BuildServerMetrics, FindsRolesUnderTheNamesOfEachVersion) {
  const auto name_of = [](const std::string& text, MetricRole role) {
    const ServerMetrics server = Built(Parsed(text));
    const ServerMetric* const metric = server.Of(role);
    return metric == nullptr ? std::string() : metric->name;
  };
  EXPECT_EQ(name_of("vllm:gpu_cache_usage_perc 0.5\n", MetricRole::kKvCacheUsage),
            "vllm:gpu_cache_usage_perc");
  EXPECT_EQ(name_of("vllm:kv_cache_usage_perc 0.5\n", MetricRole::kKvCacheUsage),
            "vllm:kv_cache_usage_perc");
  EXPECT_EQ(name_of("vllm:num_preemptions_total 5\n", MetricRole::kPreemptions),
            "vllm:num_preemptions_total");
  EXPECT_EQ(name_of("vllm:num_preemptions 5\n", MetricRole::kPreemptions), "vllm:num_preemptions");
  EXPECT_EQ(name_of("sglang:token_usage 0.1\n", MetricRole::kKvCacheUsage), "sglang:token_usage");
  EXPECT_EQ(name_of("ray_vllm_num_requests_running 2\n", MetricRole::kRunning),
            "ray_vllm_num_requests_running");
  const std::string old = "vllm:time_per_output_token_seconds_bucket{le=\"+Inf\"} 1\n";
  EXPECT_EQ(name_of(old, MetricRole::kItl), "vllm:time_per_output_token_seconds");
  EXPECT_EQ(
      name_of(old + "vllm:inter_token_latency_seconds_bucket{le=\"+Inf\"} 1\n", MetricRole::kItl),
      "vllm:inter_token_latency_seconds");
}

TEST(BuildServerMetrics, AddsEnginesUp) {
  const ServerMetrics server = Built(Parsed(Ttft("4.0", "1.25", "0") + Ttft("6.0", "2.5", "1") +
                                            "# TYPE vllm:kv_cache_usage_perc gauge\n"
                                            "vllm:kv_cache_usage_perc{engine=\"0\"} 0.5\n"
                                            "vllm:kv_cache_usage_perc{engine=\"1\"} 0.25\n"
                                            "# TYPE vllm:num_requests_running gauge\n"
                                            "vllm:num_requests_running{engine=\"0\"} 3\n"
                                            "vllm:num_requests_running{engine=\"1\"} 4\n"));
  EXPECT_EQ(server.engines, (std::vector<std::string>{"0", "1"}));
  const ServerMetric* const ttft = server.Of(MetricRole::kTtft);
  ASSERT_NE(ttft, nullptr);
  EXPECT_EQ(ttft->total.count, 10);
  EXPECT_EQ(ttft->total.sum_ns, 3'750'000'000);
  EXPECT_EQ(ttft->total.quantiles[0], 300'000'000);  // half of 0.1 to 0.5 s
  ASSERT_EQ(ttft->series.size(), 2U);
  EXPECT_EQ(ttft->series[1].count, 6);
  EXPECT_EQ(server.Of(MetricRole::kKvCacheUsage)->total.value, std::nullopt);
  EXPECT_EQ(server.Of(MetricRole::kRunning)->total.value, 7);
}

TEST(BuildServerMetrics, RefusesOtherPrograms) {
  const base::Result<ServerMetrics> server =
      BuildServerMetrics(Parsed("# TYPE node_load1 gauge\nnode_load1 0.5\n"));
  ASSERT_FALSE(server.ok());
  EXPECT_NE(server.error().message.find("node_load1"), std::string::npos);
}

TEST(MetricDifference, CountsWhatCameBetween) {
  const Exposition before = Parsed(Ttft("4.0", "1.25"));
  const Exposition after = Parsed(Ttft("6.0", "1.75"));
  EXPECT_TRUE(IsEarlier(before, after));
  EXPECT_FALSE(IsEarlier(after, before));
  const Exposition between = MetricDifference(before, after);
  EXPECT_TRUE(between.losses.empty());
  const Series& series = between.metrics[0].series[0];
  EXPECT_EQ(series.count, 2);
  EXPECT_EQ(series.sum_ns, 500'000'000);
  EXPECT_EQ(series.buckets[1].cumulative, 2);
}

TEST(MetricDifference, SaysThatTheServerWasStartedAnew) {
  const Exposition between =
      MetricDifference(Parsed(Ttft("6.0", "1.75")), Parsed(Ttft("4.0", "1.25")));
  ASSERT_EQ(between.losses.size(), 1U);
  EXPECT_EQ(between.losses[0].code, "counter_reset");
  EXPECT_EQ(between.metrics[0].series[0].count, 4);
}

TEST(MetricDifference, ASeriesThatIsNewCountsWhole) {
  const Exposition between =
      MetricDifference(Parsed(Ttft("4.0", "1.25", "0")), Parsed(Ttft("6.0", "2.5", "1")));
  EXPECT_EQ(between.metrics[0].series[0].count, 6);
}

}  // namespace
}  // namespace layerscope::workload

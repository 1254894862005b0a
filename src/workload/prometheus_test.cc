#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "src/workload/histogram.h"
#include "src/workload/impossible.h"
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

TEST(ParseExposition, OfASeriesThatStandsTwiceTheLastCounts) {
  const Exposition exposition = Parsed(Ttft("4.0", "1.25") + Ttft("6.0", "1.5"));
  ASSERT_EQ(exposition.metrics.size(), 1U);
  const Series& series = exposition.metrics[0].series[0];
  ASSERT_EQ(series.buckets.size(), 3U);
  EXPECT_EQ(series.buckets[0].bound, "0.1");
  EXPECT_EQ(series.buckets[1].cumulative, 6);
  EXPECT_EQ(series.buckets[2].cumulative, 6);
  EXPECT_EQ(series.count, 6);
  ASSERT_EQ(exposition.losses.size(), 1U);
  EXPECT_EQ(exposition.losses[0].code, "duplicate_series");
  EXPECT_EQ(exposition.losses[0].count, 5);  // three buckets, count and sum
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

// 20 observations up to 0.3 s with a mean of 70.94 µs, in ns: half of them are not above twice the
// mean, a hundredth not above a hundred times.
TEST(BoundedQuantile, AnEstimateThatContradictsTheMeanIsAnUpperBound) {
  const std::vector<Bucket> buckets = {{"0.3", 3e8, 20}, {"1", 1e9, 20}, {"+Inf", INFINITY, 20}};
  const std::vector<double> bounds = {3e8, 1e9, INFINITY};
  const std::optional<Quantile> half = BoundedQuantile(bounds, buckets, 0.5, 70'940);
  ASSERT_TRUE(half.has_value());
  EXPECT_EQ(half->is, QuantileIs::kAtMost);
  EXPECT_DOUBLE_EQ(half->value, 141'880);
  EXPECT_NEAR(BoundedQuantile(bounds, buckets, 0.99, 70'940)->value, 7'094'000, 1e-3);
}

TEST(BoundedQuantile, AndALowerBoundWhereTheMeanIsNearTheTop) {
  const std::vector<Bucket> buckets = {{"0.3", 3e8, 20}, {"+Inf", INFINITY, 20}};
  const std::optional<Quantile> half = BoundedQuantile({3e8, INFINITY}, buckets, 0.5, 2.9e8);
  ASSERT_TRUE(half.has_value());
  EXPECT_EQ(half->is, QuantileIs::kAtLeast);
  EXPECT_DOUBLE_EQ(half->value, 2.8e8);  // 3e8 - (3e8 - 2.9e8) / 0.5
}

// Half of 20 is the middle of the 20 between 0.1 and 0.3 s.
TEST(BoundedQuantile, ElseTheEstimateStands) {
  const std::vector<Bucket> buckets = {{"0.1", 1e8, 0}, {"0.3", 3e8, 20}, {"+Inf", INFINITY, 20}};
  const std::vector<double> bounds = {1e8, 3e8, INFINITY};
  for (const std::optional<double> mean :
       {std::optional(2e8), std::optional(1.9e8), std::optional<double>(), std::optional(-1.0)}) {
    const std::optional<Quantile> half = BoundedQuantile(bounds, buckets, 0.5, mean);
    ASSERT_TRUE(half.has_value());
    EXPECT_EQ(half->is, QuantileIs::kEstimate);
    EXPECT_DOUBLE_EQ(half->value, 2e8);
  }
}

// All 20 up to 0.3 s: half of them are at most twice a mean of 0.12 s, and at most 0.3 s anyhow.
TEST(BoundedQuantile, InTheFirstBucketItIsAnUpperBound) {
  const std::vector<Bucket> buckets = {{"0.3", 3e8, 20}, {"+Inf", INFINITY, 20}};
  const std::vector<double> bounds = {3e8, INFINITY};
  const auto most = [&](double q, std::optional<double> mean) {
    const std::optional<Quantile> quantile = BoundedQuantile(bounds, buckets, q, mean);
    EXPECT_TRUE(quantile && quantile->is == QuantileIs::kAtMost);
    return quantile ? quantile->value : 0;
  };
  EXPECT_DOUBLE_EQ(most(0.5, 1.2e8), 2.4e8);
  EXPECT_DOUBLE_EQ(most(0.9, 1.2e8), 3e8);
  EXPECT_DOUBLE_EQ(most(0.5, std::nullopt), 3e8);
}

TEST(BoundedQuantile, AboveTheLargestFiniteBoundItIsALowerBound) {
  const std::vector<Bucket> buckets = {{"1", 1, 2}, {"+Inf", INFINITY, 12}};
  const std::optional<Quantile> high = BoundedQuantile({1, INFINITY}, buckets, 0.9, 5);
  ASSERT_TRUE(high.has_value());
  EXPECT_EQ(high->is, QuantileIs::kAtLeast);
  EXPECT_EQ(high->value, 1);
}

/// The dump after DropImpossible.
Exposition Possible(std::string_view text) {
  Exposition exposition = Parsed(text);
  DropImpossible(exposition);
  return exposition;
}

TEST(DropImpossible, LeavesWhatCanBe) {
  const Exposition exposition =
      Possible(Ttft("4.0", "1.25") +
               "# TYPE vllm:kv_cache_usage_perc gauge\n"
               "vllm:kv_cache_usage_perc 1\nvllm:num_requests_waiting NaN\n"
               "vllm:request_success_total 9007199254740992\n"
               "process_cpu_seconds_total -1\n");
  EXPECT_TRUE(exposition.losses.empty());
}

TEST(DropImpossible, SaysWhatCannotBeAndMakesItUnknown) {
  for (const char* line : {"vllm:num_preemptions_total -5", "vllm:request_success_total 1e19",
                           "vllm:prompt_tokens_total +Inf", "vllm:num_requests_running +Inf",
                           "vllm:kv_cache_usage_perc 1e300", "vllm:kv_cache_usage_perc -0.1",
                           "sglang:token_usage 2"}) {
    const Exposition exposition = Possible(std::string(line) + "\n");
    ASSERT_EQ(exposition.losses.size(), 1U) << line;
    EXPECT_EQ(exposition.losses[0].code, "impossible_value") << line;
    EXPECT_TRUE(exposition.losses[0].data_loss) << line;
    const ServerMetrics server = Built(exposition);
    EXPECT_EQ(server.metrics[0].total.count, std::nullopt) << line;
    EXPECT_EQ(server.metrics[0].total.value, std::nullopt) << line;
  }
}

TEST(DropImpossible, BucketsMustBeCumulativeAndAgreeWithTheCount) {
  const std::string name = "vllm:time_to_first_token_seconds";
  const auto figures = [&](const char* low, const char* high, const char* count, const char* sum) {
    const Exposition exposition =
        Possible(name + "_bucket{le=\"0.1\"} " + low + "\n" + name + "_bucket{le=\"+Inf\"} " +
                 high + "\n" + name + "_count " + count + "\n" + name + "_sum " + sum + "\n");
    EXPECT_EQ(exposition.losses.size(), 1U);
    return Built(exposition).metrics[0].total;
  };
  EXPECT_EQ(figures("9", "5", "5", "1").quantiles[0], std::nullopt);
  EXPECT_EQ(figures("-2", "5", "5", "1").quantiles[0], std::nullopt);
  EXPECT_EQ(figures("3", "5", "6", "1").quantiles[0], std::nullopt);
  const MetricFigures below_zero = figures("3", "5", "5", "-4");
  EXPECT_EQ(below_zero.sum_ns, std::nullopt);
  EXPECT_EQ(below_zero.count, 5);
  EXPECT_TRUE(below_zero.quantiles[0].has_value());
}

TEST(DropImpossible, DroppedBucketsAreNoRestart) {
  Exposition before = Possible(Ttft("4.0", "1.25"));
  const std::string name = "vllm:time_to_first_token_seconds";
  Exposition after = Possible(name + "_bucket{engine=\"0\",le=\"0.1\"} 7\n" + name +
                              "_bucket{engine=\"0\",le=\"+Inf\"} 6\n" + name +
                              "_count{engine=\"0\"} 6\n" + name + "_sum{engine=\"0\"} 2.0\n");
  const base::Result<Exposition> between = MetricDifference(before, std::move(after));
  ASSERT_TRUE(between.ok());
  EXPECT_EQ(between->metrics[0].series[0].count, 2);
  ASSERT_EQ(between->losses.size(), 1U);
  EXPECT_EQ(between->losses[0].code, "impossible_value");
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
  EXPECT_EQ(ttft->total.quantiles[0]->value, 300'000'000);  // half of 0.1 to 0.5 s
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

Exposition Between(const std::string& before, const std::string& after) {
  base::Result<Exposition> between = MetricDifference(Parsed(before), Parsed(after));
  EXPECT_TRUE(between.ok()) << between.error().message;
  return between.ok() ? *std::move(between) : Exposition();
}

TEST(MetricDifference, CountsWhatCameBetween) {
  const Exposition before = Parsed(Ttft("4.0", "1.25"));
  const Exposition after = Parsed(Ttft("6.0", "1.75"));
  EXPECT_TRUE(IsEarlier(before, after));
  EXPECT_FALSE(IsEarlier(after, before));
  const Exposition between = Between(Ttft("4.0", "1.25"), Ttft("6.0", "1.75"));
  EXPECT_TRUE(between.losses.empty());
  const Series& series = between.metrics[0].series[0];
  EXPECT_EQ(series.count, 2);
  EXPECT_EQ(series.sum_ns, 500'000'000);
  EXPECT_EQ(series.buckets[1].cumulative, 2);
}

TEST(MetricDifference, SaysThatTheServerWasStartedAnew) {
  const Exposition between = Between(Ttft("6.0", "1.75"), Ttft("4.0", "1.25"));
  ASSERT_EQ(between.losses.size(), 1U);
  EXPECT_EQ(between.losses[0].code, "counter_reset");
  EXPECT_EQ(between.metrics[0].series[0].count, 4);
}

// prompt tokens: 150 - 100 of one engine, whatever each dump declares and in which order labels
// stand.
TEST(MetricDifference, ACounterIsOneWithAndWithoutTotal) {
  const std::string declared =
      "# TYPE vllm:prompt_tokens counter\nvllm:prompt_tokens_total{e=\"0\",m=\"x\"} 100\n";
  const std::string plain = "vllm:prompt_tokens_total{m=\"x\",e=\"0\"} 150\n";
  const std::string bare = "vllm:prompt_tokens{e=\"0\",m=\"x\"} 150\n";
  for (const std::string& after : {plain, bare}) {
    const Exposition between = Between(declared, after);
    EXPECT_EQ(between.metrics[0].series[0].value, 50) << after;
    EXPECT_EQ(between.metrics[0].type, MetricType::kCounter) << after;
    EXPECT_TRUE(between.losses.empty()) << after;
    EXPECT_TRUE(IsEarlier(Parsed(declared), Parsed(after)));
    EXPECT_FALSE(IsEarlier(Parsed(after), Parsed(declared)));
  }
}

TEST(MetricDifference, AGaugeIsNoCounterOfALikeName) {
  const Exposition between = Between(
      "# TYPE vllm:x gauge\nvllm:x 3\n# TYPE vllm:y_total counter\nvllm:y_total 1\n",
      "# TYPE vllm:x_total counter\nvllm:x_total 5\n# TYPE vllm:y_total counter\nvllm:y_total 4\n");
  EXPECT_EQ(between.metrics[0].series[0].value, 5);
  EXPECT_EQ(between.metrics[1].series[0].value, 3);
}

TEST(MetricDifference, ASeriesThatIsNewCountsWholeAndIsNamed) {
  const Exposition between =
      Between(Ttft("4.0", "1.25", "0"),
              Ttft("5.0", "1.5", "0") + Ttft("6.0", "2.5", "1") + "vllm:never_total 0\n");
  EXPECT_EQ(between.metrics[0].series[0].count, 1);
  EXPECT_EQ(between.metrics[0].series[1].count, 6);
  ASSERT_EQ(between.losses.size(), 1U);
  EXPECT_EQ(between.losses[0].code, "no_earlier_value");
  EXPECT_EQ(between.losses[0].count, 1);
  EXPECT_NE(between.losses[0].message.find("vllm:time_to_first_token_seconds"), std::string::npos);
}

TEST(MetricDifference, RefusesDumpsOfOtherServers) {
  const auto error_of = [](const std::string& before, const std::string& after) {
    const base::Result<Exposition> between = MetricDifference(Parsed(before), Parsed(after));
    return between.ok() ? std::string() : between.error().message;
  };
  const std::string one = "vllm:x_total{model_name=\"a\"} 1\n";
  const std::string other = "vllm:x_total{model_name=\"b\"} 2\n";
  EXPECT_NE(error_of(one, other).find("different models (a and b)"), std::string::npos);
  EXPECT_NE(error_of(other, one).find("different models (b and a)"), std::string::npos);
  EXPECT_EQ(error_of(one, one + other), "");  // one more model was loaded
  EXPECT_NE(
      error_of(Ttft("4.0", "1.25", "0"), Ttft("6.0", "2.5", "1")).find("no counter in common"),
      std::string::npos);
}

TEST(MetricDifference, AServerThatHasNotCountedYetIsTheOneOfALaterDump) {
  // A gauge alone, and a counter at zero that the later dump spells otherwise.
  const std::string fresh = "sglang:num_running_reqs 0\nsglang:prompt_tokens_total 0\n";
  const Exposition between = Between(fresh,
                                     "# TYPE sglang:generation_tokens_total counter\n"
                                     "sglang:generation_tokens_total 64\n");
  EXPECT_EQ(between.metrics[0].series[0].value, 64);
}

}  // namespace
}  // namespace layerscope::workload

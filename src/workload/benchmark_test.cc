#include "src/workload/benchmark.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>

#include "src/workload/decimal.h"

namespace layerscope::workload {
namespace {

// Expected values are counted by hand from the texts.

constexpr const char* kVllm = R"({"date": "20260301-120000", "backend": "openai", "model_id": "m",
 "num_prompts": 3, "request_rate": "inf", "duration": 2.0, "completed": 2, "failed": 1,
 "total_input_tokens": 30, "total_output_tokens": 5, "request_throughput": 1.0,
 "input_lens": [10, 20, 40], "output_lens": [3, 2, 0], "ttfts": [0.1, 0.25, 0.0],
 "itls": [[0.01, 0.03], [0.0000000005], []], "start_times": [1099.5, 1100.0, 1100.25],
 "errors": ["", "", "Connection reset"], "p99_ttft_ms": 248.5, "median_itl_ms": NaN})";

Benchmark Parsed(std::string_view text) {
  base::Result<Benchmark> benchmark = ParseBenchmark(text);
  EXPECT_TRUE(benchmark.ok()) << benchmark.error().message;
  return benchmark.ok() ? *std::move(benchmark) : Benchmark();
}

std::string Refusal(std::string_view text) {
  const base::Result<Benchmark> benchmark = ParseBenchmark(text);
  EXPECT_FALSE(benchmark.ok());
  return benchmark.ok() ? std::string() : benchmark.error().message;
}

TEST(ParseBenchmark, ReadsRequestsOfVllm) {
  const Benchmark benchmark = Parsed(kVllm);
  EXPECT_EQ(benchmark.kind, Kind::kVllmBench);
  ASSERT_EQ(benchmark.runs.size(), 1U);
  const workload::Run& run = benchmark.runs[0];
  EXPECT_EQ(run.model, "m");
  EXPECT_EQ(run.duration_ns, 2'000'000'000);
  ASSERT_EQ(run.requests.size(), 3U);
  const Request& first = run.requests[0];
  EXPECT_EQ(first.ttft_ns, 100'000'000);
  EXPECT_EQ(first.e2e_ns, 140'000'000);
  EXPECT_EQ(first.DecodeNs(), 40'000'000);
  EXPECT_EQ(first.TpotNs(), 20'000'000);
  EXPECT_EQ(first.start_ns, 1'099'500'000'000);
  EXPECT_EQ(run.requests[1].itl_ns, std::vector<int64_t>{0});  // half a nanosecond, to even
}

TEST(ParseBenchmark, AFailedRequestHasNoTimes) {
  const Request failed = Parsed(kVllm).runs[0].requests[2];
  EXPECT_FALSE(failed.ok);
  EXPECT_EQ(failed.error, "Connection reset");
  EXPECT_EQ(failed.ttft_ns, std::nullopt);
  EXPECT_EQ(failed.TpotNs(), std::nullopt);
  EXPECT_EQ(failed.input_tokens, 40);
}

TEST(ParseBenchmark, ARequestWithoutAnythingFailedAlsoWithoutErrors) {
  const Benchmark benchmark = Parsed(
      R"({"completed": 1, "duration": 1, "request_rate": 1, "ttfts": [0.5, 0.0],
          "output_lens": [2, 0], "itls": [[0.5], []]})");
  EXPECT_TRUE(benchmark.runs[0].requests[0].ok);
  EXPECT_FALSE(benchmark.runs[0].requests[1].ok);
}

TEST(ParseBenchmark, KeepsTheFilesOwnFigures) {
  const Benchmark benchmark = Parsed(kVllm);
  const std::vector<Aggregate>& aggregates = benchmark.runs[0].aggregates;
  ASSERT_EQ(aggregates.size(), 1U);
  EXPECT_EQ(aggregates[0].metric + " " + aggregates[0].stat, "ttft p99");
  EXPECT_EQ(aggregates[0].ns, 248'500'000);
  ASSERT_EQ(benchmark.losses.size(), 1U);
  EXPECT_EQ(benchmark.losses[0].code, "not_finite");
}

TEST(ParseBenchmark, ReadsRunsOfSglangOneALine) {
  const std::string line =
      R"({"backend": "sglang", "dataset_name": "random", "request_rate": Infinity,
      "total_output_tokens_retokenized": 9, "median_e2e_latency_ms": 2.5, "duration": 1.5,
      "completed": 4})";
  const Benchmark benchmark = Parsed(line + "\n" + line + "\n\n");
  EXPECT_EQ(benchmark.kind, Kind::kSglangBench);
  ASSERT_EQ(benchmark.runs.size(), 2U);
  EXPECT_EQ(benchmark.runs[1].completed, 4);
  ASSERT_EQ(benchmark.runs[1].aggregates.size(), 1U);
  EXPECT_EQ(benchmark.runs[1].aggregates[0].ns, 2'500'000);
}

TEST(ParseBenchmark, AnotherToolsSecondsAreSeconds) {
  const Benchmark benchmark = Parsed(
      R"({"model_id": "m", "num_prompts": 1, "duration": 2, "completed": 1,
          "median_ttft": 0.9015302835032344})");
  EXPECT_EQ(benchmark.kind, Kind::kInferenceX);
  EXPECT_EQ(benchmark.runs[0].aggregates[0].ns, 901'530'284);
}

TEST(ParseBenchmark, ReadsOneBatchRuns) {
  const Benchmark benchmark = Parsed(
      R"({"run_name": "default", "batch_size": 8, "input_len": 256, "output_len": 16,
          "prefill_latency": 0.125, "median_decode_latency": 0.0625, "total_latency": 1.0})");
  EXPECT_EQ(benchmark.kind, Kind::kSglangOneBatch);
  const workload::Run& run = benchmark.runs[0];
  EXPECT_EQ(run.completed, 8);
  EXPECT_EQ(run.output_tokens, 128);
  ASSERT_EQ(run.aggregates.size(), 3U);
  EXPECT_EQ(run.aggregates[0].ns, 125'000'000);
}

TEST(ParseBenchmark, ReadsRequestsOfInferencePerf) {
  const Benchmark benchmark = Parsed(
      R"([{"start_time": 10.0, "end_time": 11.5, "request": "{}", "error": null,
           "info": {"input_tokens": 7, "output_tokens": 3, "output_token_times": [10.5, 11.0, 11.5]}},
          {"start_time": 11.0, "end_time": 12.0, "request": "{}", "info": {},
           "error": {"error_type": "TimeoutError", "error_msg": "too late"}}])");
  EXPECT_EQ(benchmark.kind, Kind::kInferencePerfRequests);
  ASSERT_EQ(benchmark.runs.size(), 1U);
  const std::vector<Request>& requests = benchmark.runs[0].requests;
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].ttft_ns, 500'000'000);
  EXPECT_EQ(requests[0].itl_ns, (std::vector<int64_t>{500'000'000, 500'000'000}));
  EXPECT_EQ(requests[0].e2e_ns, 1'500'000'000);
  EXPECT_FALSE(requests[1].ok);
  EXPECT_EQ(requests[1].error, "too late");
}

TEST(ParseBenchmark, ReadsTheSummaryOfASweep) {
  const std::string run = R"({"completed": 1, "duration": 1, "num_prompts": 1, "run_number": )";
  const Benchmark benchmark = Parsed("[" + run + "0}, " + run + "1}, 7]");
  EXPECT_EQ(benchmark.runs.size(), 2U);
  ASSERT_EQ(benchmark.losses.size(), 1U);
  EXPECT_EQ(benchmark.losses[0].code, "foreign_objects");
}

TEST(ParseBenchmark, ListsThatDifferAreSaid) {
  const Benchmark benchmark = Parsed(
      R"({"completed": 1, "duration": 1, "num_prompts": 2, "ttfts": [0.5, 0.25],
          "output_lens": [3], "itls": [[null, "x", -1, 0.5]]})");
  const std::vector<Request>& requests = benchmark.runs[0].requests;
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[1].output_tokens, std::nullopt);
  EXPECT_EQ(requests[0].itl_ns, (std::vector<int64_t>{kUnknown, kUnknown, kUnknown, 500'000'000}));
  EXPECT_EQ(requests[0].e2e_ns, std::nullopt);
  ASSERT_EQ(benchmark.losses.size(), 2U);
  EXPECT_EQ(benchmark.losses[0].code, "lists_differ");
  EXPECT_EQ(benchmark.losses[1].code, "bad_numbers");
  EXPECT_EQ(benchmark.losses[1].count, 2);
}

TEST(ParseBenchmark, ACutLastRunIsLeftOut) {
  const std::string line = R"({"completed": 1, "duration": 1, "num_prompts": 1})";
  const Benchmark benchmark = Parsed(line + "\n" + line.substr(0, 20));
  EXPECT_EQ(benchmark.runs.size(), 1U);
  ASSERT_EQ(benchmark.losses.size(), 1U);
  EXPECT_EQ(benchmark.losses[0].code, "truncated");
  EXPECT_EQ(Parsed(line + "\nnonsense\n" + line).runs.size(), 2U);
}

TEST(ParseBenchmark, RunsBehindACutOneAreRead) {
  const std::string line = R"({"completed": 1, "duration": 1, "num_prompts": 1})";
  const std::string cut = line.substr(0, 20);
  const Benchmark benchmark =
      Parsed(line + "\n" + cut + "\n" + line + "\n" + line + "\n" + cut + "\n\n" + line + "\n");
  EXPECT_EQ(benchmark.runs.size(), 4U);
  // A run that is spread over lines has no line that begins with a bracket but its first.
  const std::string spread =
      "{\n  \"completed\": 2, \"duration\": 1,\n  \"num_prompts\": 1, \"x\": {\n  }\n}";
  const Benchmark of_lines = Parsed(line + "\n{\"a\": [1,\n" + spread + "\n" + spread);
  ASSERT_EQ(of_lines.runs.size(), 3U);
  EXPECT_EQ(of_lines.runs[2].completed, 2);
}

TEST(ParseBenchmark, RunsOfAListThatIsCutStandOnce) {
  const std::string line = R"({"completed": 1, "duration": 1, "num_prompts": 1})";
  const Benchmark benchmark =
      Parsed("[\n" + line + ",\n" + line + ",\n" + line.substr(0, 20) + "\n");
  EXPECT_EQ(benchmark.runs.size(), 2U);
  ASSERT_EQ(benchmark.losses.size(), 1U);
  EXPECT_EQ(benchmark.losses[0].code, "truncated");
  EXPECT_EQ(benchmark.losses[0].count, 1);
}

// Each line that is cut was scanned to the end of the file: a hundred of them cost fifty readings.
TEST(ParseBenchmark, ManyCutLinesCostAFewReadings) {
  const std::string line = R"({"completed": 1, "duration": 1, "num_prompts": 1})";
  std::string numbers;
  for (int i = 0; i < 20'000; ++i) numbers += "1,";
  std::string cut = line;
  std::string whole = line;
  for (int i = 0; i < 100; ++i) {
    cut += "\n{\"a\":[" + numbers;
    whole += "\n{\"a\":[" + numbers + "1]}";
  }
  const auto ticks = [](const std::string& text) {
    const std::clock_t begin = std::clock();
    EXPECT_EQ(Parsed(text).runs.size(), 1U);
    return std::clock() - begin;
  };
  const std::clock_t once = ticks(whole);
  EXPECT_LT(ticks(cut), 15 * once);
}

TEST(ParseBenchmark, ListsOfAnotherDepthAreNotTheRuns) {
  const Benchmark benchmark = Parsed(
      R"({"completed": 2, "duration": 1, "num_prompts": 2, "ttfts": [0.5, 0.25],
          "input_lens": [3, 4], "errors": ["", ""],
          "server_info": {"errors": ["x", "y"], "input_lens": [9], "ttfts": [1, 2, 3]}})");
  const std::vector<Request>& requests = benchmark.runs[0].requests;
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].input_tokens, 3);
  EXPECT_TRUE(requests[0].ok);
  EXPECT_TRUE(benchmark.losses.empty());
}

TEST(ParseBenchmark, WhatARunHasTooMuchOfIsSaid) {
  std::string text = R"({"completed": 1, "duration": 1, "num_prompts": 1, "long": ")" +
                     std::string(201, 'x') + "\"";
  for (int i = 0; i < 250; ++i) text += ", \"a" + std::to_string(i) + "\": 1";
  for (int i = 0; i < 1003; ++i) text += ", \"p" + std::to_string(i) + "_ttft_ms\": 1";
  // The last value of a key counts, also behind the last that is kept.
  text += ", \"a0\": 2}";
  const Benchmark benchmark = Parsed(text);
  ASSERT_EQ(benchmark.losses.size(), 3U);
  EXPECT_EQ(benchmark.losses[0].code, "texts_cut");
  EXPECT_EQ(benchmark.losses[1].code, "parameters_left_out");
  EXPECT_EQ(benchmark.losses[1].count, 52);  // num_prompts, long and 250 are 252
  EXPECT_EQ(benchmark.losses[2].code, "figures_left_out");
  EXPECT_EQ(benchmark.losses[2].count, 3);
  const auto& parameters = benchmark.runs[0].parameters;
  ASSERT_EQ(parameters.size(), 200U);
  EXPECT_EQ(parameters[2].first + " " + parameters[2].second.text, "a0 2");
}

TEST(ParseBenchmark, TimesOfMonthsAreUnknownAndSaid) {
  const Benchmark of_lists =
      Parsed(R"({"completed": 2, "duration": 1, "num_prompts": 2, "ttfts": [0.5, 10000001]})");
  EXPECT_EQ(of_lists.runs[0].requests[1].ttft_ns, std::nullopt);
  ASSERT_EQ(of_lists.losses.size(), 1U);
  EXPECT_EQ(of_lists.losses[0].code, "bad_numbers");
  EXPECT_NE(of_lists.losses[0].message.find("115 days"), std::string::npos);
  const Benchmark of_requests = Parsed(
      R"([{"start_time": 10.0, "end_time": 9.0, "request": "{}", "error": null, "info": {}}])");
  EXPECT_EQ(of_requests.runs[0].requests[0].e2e_ns, std::nullopt);
  ASSERT_EQ(of_requests.losses.size(), 1U);
  EXPECT_EQ(of_requests.losses[0].code, "bad_times");
}

TEST(ParseBenchmark, RefusesByNameWhatIsNone) {
  EXPECT_EQ(Refusal(""), "this is empty");
  EXPECT_EQ(Refusal(R"({"traceEvents": []})"), "this is a profiler trace");
  EXPECT_EQ(Refusal(R"({"model_type": "llama"})"), "this is a Hugging Face config.json");
  EXPECT_EQ(Refusal(R"({"schema": "layerscope/workload/1"})"),
            "this is a workload_data.json, which layerscope made of such files");
  EXPECT_EQ(Refusal("hello"), "this is a text that is neither JSON nor Prometheus");
  EXPECT_EQ(Refusal(R"({"a": 1, "b": 2})"), "this is a JSON of another kind (its keys: a, b)");
  EXPECT_NE(Refusal(R"({"completed": 1, "duration": 1, "num_prompts": )").find("at byte 47"),
            std::string::npos);
}

TEST(ParseBenchmark, EveryCutOfAResultIsRefusedOrRead) {
  const std::string whole(kVllm);
  for (size_t n = 0; n < whole.size(); ++n) {
    const base::Result<Benchmark> benchmark = ParseBenchmark(std::string_view(whole).substr(0, n));
    ASSERT_FALSE(benchmark.ok()) << n;
    ASSERT_FALSE(benchmark.error().message.empty()) << n;
  }
}

TEST(ParseBenchmark, DeepAndLongKeysCostNothing) {
  std::string text = R"({"completed": 1, "duration": 1, "num_prompts": 1, ")" +
                     std::string(1'000'000, 'k') + R"(": {)";
  for (int i = 0; i < 20'000; ++i) text += "\"a" + std::to_string(i) + "\": 1, ";
  text += "\"z\": 1}}";
  EXPECT_EQ(Parsed(text).runs.size(), 1U);
}

}  // namespace
}  // namespace layerscope::workload

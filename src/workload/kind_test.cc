#include "src/workload/kind.h"

#include <gtest/gtest.h>

#include <string>

namespace layerscope::workload {
namespace {

TEST(SniffKind, NeedsOnlyTheFirstKeys) {
  EXPECT_EQ(SniffKind(R"({"date": "x", "backend": "vllm", "model_id": "m", "ttfts": [0.1, 0.)"),
            Kind::kVllmBench);
  EXPECT_EQ(
      SniffKind(R"({"backend": "sglang", "dataset_name": "random", "request_rate": Infinity, )"
                R"("mean_e2e_latency_ms": 1)"),
      Kind::kSglangBench);
  EXPECT_EQ(SniffKind(R"({"load_summary": {"count": 3)"), Kind::kInferencePerf);
  EXPECT_EQ(SniffKind(R"([{"start_time": 1, "end_time": 2, "request": "aaaa)"),
            Kind::kInferencePerfRequests);
  EXPECT_EQ(SniffKind(R"({"batch_size": 1, "prefill_latency": 2)"), Kind::kSglangOneBatch);
}

TEST(SniffKind, TracesAreNone) {
  EXPECT_EQ(SniffKind(R"({"schemaVersion": 1, "deviceProperties": [], "traceEvents": [)"),
            Kind::kUnknown);
  EXPECT_EQ(SniffKind(R"([{"ph": "X", "name": "duration", "ts": 1, "dur": 2})"), Kind::kUnknown);
  EXPECT_EQ(SniffKind(R"({"architectures": ["Qwen3ForCausalLM"]})"), Kind::kUnknown);
  EXPECT_EQ(SniffKind("SQLite format 3"), Kind::kUnknown);
  EXPECT_EQ(SniffKind(""), Kind::kUnknown);
}

TEST(SniffKind, KnowsPrometheusByItsLines) {
  EXPECT_EQ(SniffKind("# HELP python_gc Objects\n"), Kind::kPrometheus);
  EXPECT_EQ(SniffKind("\n\nvllm:num_requests_running{engine=\"0\"} 1.0\n"), Kind::kPrometheus);
  EXPECT_EQ(SniffKind("up 1\n"), Kind::kPrometheus);
  EXPECT_EQ(SniffKind("# a shell script\necho hello\n"), Kind::kUnknown);
  EXPECT_EQ(SniffKind("time,value\n1,2\n"), Kind::kUnknown);
}

TEST(SniffKind, PassesOverAByteOrderMark) {
  EXPECT_EQ(SniffKind("\xEF\xBB\xBF# HELP python_gc Objects\n"), Kind::kPrometheus);
  EXPECT_EQ(SniffKind("\xEF\xBB\xBF{\"load_summary\": {}"), Kind::kInferencePerf);
  EXPECT_EQ(ForeignName("\xEF\xBB\xBF"), "empty");
}

TEST(ForeignName, SaysWhatAFileIs) {
  EXPECT_EQ(ForeignName(" \n"), "empty");
  EXPECT_EQ(ForeignName("SQLite format 3"), "an SQLite database");
  EXPECT_EQ(ForeignName(R"({"avg_latency": 1})"),
            "a result of `vllm bench latency`, which times no requests");
  EXPECT_EQ(ForeignName(R"([1, 2])"), "a JSON list without objects");
  EXPECT_EQ(ForeignName(std::string("\x1f\x00\x02", 3)), "a binary file");
}

}  // namespace
}  // namespace layerscope::workload

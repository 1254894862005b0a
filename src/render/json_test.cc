#include "src/render/json.h"

#include <gtest/gtest.h>

#include <string>

#include "src/render/render.h"

#include "tests/support/sample_result.h"

namespace layerscope::render {
namespace {

/// Without the spaces and line feeds of the layout; no string of the samples needs them.
std::string Compact(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' && c != '\n') out += c;
  }
  return out;
}

constexpr std::string_view kHead =
    R"({"schema":"layerscope/1","command":"kernels","inputs":[{"path":"rank0.json.gz",)"
    R"("kind":"kineto","rank":0,"t0_ns":"9007199254740993","span_ns":2000000})";
constexpr std::string_view kBody =
    R"("coverage":{"total_ns":1900000,"module":{"launch_correlation":1500000,"unresolved":400000},)"
    R"("layer":{"unresolved":1900000}},"data":{"rows":[)"
    R"({"key":"gemm_bf16","sum_ns":1500000,"tokens":null,)"
    R"("evidence":{"launch_correlation":1500000}},)"
    R"({"key":"copy<a,\"b\"|\u001b[31m>","sum_ns":400000,"tokens":1234,)"
    R"("evidence":{"unresolved":400000}}],"total":{"n":2,"sum_ns":1900000}})";

TEST(JsonTest, OneInputHasItsDataAtTheTop) {
  EXPECT_EQ(
      Compact(RenderJson(SampleResult())),
      std::string(kHead) + R"(],"options":{"by":"name"},"health":[],)" + std::string(kBody) + "}");
}

TEST(JsonTest, SeveralInputsHaveTheirDataInRanks) {
  table::Result result = SampleRanks();
  result.reduced = table::Object{{"sum_ns", 3'800'000}};
  EXPECT_EQ(Compact(RenderJson(result)),
            std::string(kHead) +
                R"(,{"path":"b.json","kind":"kineto","rank":null,"t0_ns":"5","span_ns":7}],)"
                R"("options":{"by":"name"},"health":[],"coverage":null,"data":null,"ranks":[)"
                R"({"rank":0,"input":"rank0.json.gz",)" +
                std::string(kBody) + R"(},{"rank":null,"input":"b.json",)" + std::string(kBody) +
                R"(}],"reduced":{"sum_ns":3800000}})");
}

TEST(JsonTest, HealthIsTheLedgerAndTheWarningsOfTheAnalysis) {
  table::Result result = SampleResult();
  result.health = {{"truncated", table::Severity::kDataLoss, 1, "Cut."}};
  result.ranks[0].warnings = {{"graph_replay", table::Severity::kWarning, 3, "Graph."}};
  EXPECT_NE(Compact(RenderJson(result))
                .find(R"("health":[{"code":"truncated","severity":"data_loss","count":1,)"
                      R"("message":"Cut."},{"code":"graph_replay","severity":"warning","count":3,)"
                      R"("message":"Graph."}])"),
            std::string::npos);
}

TEST(JsonTest, AbstentionStandsInData) {
  table::Result result = SampleResult();
  result.ranks[0].data = {{"rows", table::Array{}}};
  result.ranks[0].abstained = {"no_scopes", "Why.", "How."};
  EXPECT_NE(
      Compact(RenderJson(result))
          .find(R"("data":{"rows":[],"abstained":{"code":"no_scopes","why":"Why.","how":"How."}})"),
      std::string::npos);
}

TEST(JsonTest, RowsFollowTheOrderOfTheTable) {
  table::Result result = SampleResult();
  table::Table table;
  AddInts(table, {.name = "n"}, {10, 11, 12});
  table.order = std::vector<size_t>{2, 0};
  result.ranks[0].data = {{"rows", table}};
  EXPECT_NE(Compact(RenderJson(result)).find(R"("rows":[{"n":12},{"n":10}])"), std::string::npos);
}

TEST(JsonTest, ErrorsHaveTheirOwnEnvelope) {
  const base::Error error{base::ErrorCode::kUsage, "no column 'wal'; did you mean 'wall'?", ""};
  EXPECT_EQ(RenderError("steps", error),
            "{\n"
            "  \"schema\": \"layerscope/1\",\n"
            "  \"command\": \"steps\",\n"
            "  \"error\": {\n"
            "    \"code\": \"usage\",\n"
            "    \"message\": \"no column 'wal'; did you mean 'wall'?\",\n"
            "    \"hint\": \"\"\n"
            "  }\n"
            "}\n");
}

TEST(JsonTest, SmallValuesFitOnOneLine) {
  EXPECT_EQ(JsonText(table::Array{1, "a", table::Object{{"b", true}}}), R"([1, "a", {"b": true}])");
}

}  // namespace
}  // namespace layerscope::render

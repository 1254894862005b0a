#include "src/document/annotate.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/document/test_trace.h"

namespace layerscope::document {
namespace {

using attribution::Evidence;
using layers::LayerId;
using layers::PassId;
using layers::PassPart;

std::string Kernel(const std::string& name, int ts, int dur, int stream = 7) {
  return R"({"ph":"X","cat":"kernel","name":")" + name + R"(","pid":0,"tid":)" +
         std::to_string(stream) + R"(,"ts":)" + std::to_string(ts) + R"(,"dur":)" +
         std::to_string(dur) + R"(,"args":{"device":0,"stream":)" + std::to_string(stream) + "}}";
}

/// Rows 0 to 6: head, layer 0 (two blocks, the second starts early), a foreign kernel in it, layer
/// 1 on the main stream and on a side stream, tail.
const std::string kText =
    "{\"schemaVersion\": 1,\n\"traceEvents\": [\n" + Kernel("embed", 100, 10) + ",\n" +
    Kernel("attn", 110, 20) + "," + Kernel("ffn", 125, 10) + ",\n  " + Kernel("foreign", 136, 1) +
    "," + Kernel("ffn2", 140, 5) + "," + Kernel("attn", 145, 10) + "," +
    Kernel("side", 147, 20, 9) + "," + Kernel("norm", 160, 5) + "\n],\n\"traceName\": \"a\"}\n";

layers::LayerStructure Structure() {
  layers::LayerStructure s;
  layers::Pass pass;
  pass.kind = layers::PassKind::kDecode;
  pass.n_layers = 2;
  pass.complete = true;
  pass.confidence = 0.95;
  s.passes = {pass};
  layers::Layer first;
  first.pass = PassId(0);
  layers::Layer second = first;
  second.index = 1;
  second.type = 1;
  s.layers = {first, second};
  s.types = {"FULL+DENSE", "FULL+MOE"};
  const size_t n = 8;
  s.pass.assign(n, PassId(0));
  s.layer.assign(n, LayerId());
  s.part.assign(n, PassPart::kLayer);
  s.block.assign(n, layers::kNoBlock);
  s.foreign.assign(n, 0);
  s.evidence.assign(n, Evidence::kPeriodicity);
  s.part[0] = PassPart::kHead;
  s.part[7] = PassPart::kTail;
  for (const size_t row : {1, 2, 3, 4}) s.layer[row] = LayerId(0);
  for (const size_t row : {5, 6}) s.layer[row] = LayerId(1);
  s.block[1] = 0;
  s.block[2] = s.block[4] = 1;
  s.foreign[3] = 1;
  s.pass[3] = PassId();
  s.part[3] = PassPart::kOutside;
  return s;
}

/// Name, start and length of the slices in order.
std::vector<std::string> Slices(const std::string& document) {
  std::vector<std::string> slices;
  for (size_t at = document.find("\"cat\":\"layerscope\""); at != std::string::npos;
       at = document.find("\"cat\":\"layerscope\"", at + 1)) {
    const std::string rest = document.substr(at);
    const auto field = [&rest](const std::string& key, char end) {
      const size_t begin = rest.find("\"" + key + "\":") + key.size() + 3;
      return rest.substr(begin, rest.find(end, begin) - begin);
    };
    slices.push_back(field("name", ',') + " " + field("ts", ',') + " " + field("dur", ','));
  }
  return slices;
}

/// The document of `text` annotated with Structure().
std::string Annotated(const std::string& text, CopyCounts* counts = nullptr) {
  TestTrace trace(text);
  const layers::LayerStructure structure = Structure();
  trace.SetLayers(&structure);
  const base::Result<TraceDocument> document = BuildAnnotation(trace.input(), {});
  LS_CHECK(document.ok(), "a test's trace can be annotated");
  return trace.Write(*document, counts);
}

TEST(BuildAnnotation, AddsPassLayerAndBlockTracksOfEachStream) {
  CopyCounts counts;
  const std::string text = Annotated(kText, &counts);
  // Layer 0 is split by the foreign kernel, block 0 cut short by block 1's early start.
  const std::vector<std::string> expected = {
      "\"pass 0 decode\" 100.000 65.000", "\"head\" 100.000 10.000",
      "\"layer 0 FULL+DENSE (1 of 2)\" 110.000 25.000",
      "\"layer 0 FULL+DENSE (2 of 2)\" 140.000 5.000", "\"layer 1 FULL+MOE\" 145.000 10.000",
      "\"tail\" 160.000 5.000", "\"attention\" 110.000 15.000", "\"ffn (1 of 2)\" 125.000 10.000",
      "\"ffn (2 of 2)\" 140.000 5.000",
      // The side stream.
      "\"pass 0 decode\" 147.000 20.000", "\"layer 1 FULL+MOE\" 147.000 20.000"};
  EXPECT_EQ(Slices(text), expected);
  // Five tracks of two metadata events each, and the slices.
  EXPECT_EQ(counts.n_input, 8);
  EXPECT_EQ(counts.n_added, 10 + 11);
  EXPECT_EQ(ReadText(text).counts.n_events, counts.n_written());
}

TEST(BuildAnnotation, ArgumentsHoldTheWholeLayerAndTheSlice) {
  const std::string text = Annotated(kText);
  EXPECT_NE(text.find(R"("args":{"index":1,"type":"FULL+MOE","pass":0,"sum_ns":30000,)"
                      R"("n_kernels":2,"slice_sum_ns":10000,"slice_n_kernels":1,)"
                      R"("evidence":"periodicity"})"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"({"ph":"M","name":"thread_name","pid":0,"tid":1000000001,)"
                      R"("args":{"name":"stream 7: layers"}})"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("tid":1000000001,"args":{"sort_index":7}})"), std::string::npos) << text;
}

TEST(BuildAnnotation, KeepsEveryEventAndMemberAsItStands) {
  const std::string text = Annotated(kText);
  EXPECT_EQ(text.substr(0, text.find('[')), "{\n\"schemaVersion\": 1,\n\"traceEvents\": ");
  EXPECT_TRUE(text.ends_with("\n],\n\"traceName\": \"a\"\n}\n"));
  size_t at = 0;
  for (const char* name : {"embed", "attn", "ffn", "foreign", "ffn2", "attn", "side", "norm"}) {
    at = text.find("\"name\":\"" + std::string(name) + "\"", at);
    ASSERT_NE(at, std::string::npos) << name;
    ++at;
  }
}

TEST(BuildAnnotation, AThreadOfTheProcessIsNeverTakenForATrack) {
  const std::string named = R"({"ph":"M","name":"thread_name","pid":0,"tid":1000000000,)"
                            R"("args":{"name":"taken"}},)";
  std::string text = kText;
  text.insert(text.find('[') + 1, named);
  const std::string written = Annotated(text);
  EXPECT_NE(written.find(R"("tid":1000000001,"args":{"name":"stream 7: passes"}})"),
            std::string::npos);
}

TEST(BuildAnnotation, ACutTraceGivesAWholeDocument) {
  const layers::LayerStructure empty = [] {
    layers::LayerStructure s;
    s.abstained = table::Abstention{"no_layers", "nothing repeats", "give --config"};
    return s;
  }();
  for (size_t n = kText.find('[') + 1; n < kText.size(); n += 3) {
    const std::string cut = kText.substr(0, n);
    TestTrace trace(cut);
    layers::LayerStructure structure = empty;
    const size_t rows = trace.trace().activities.size();
    structure.pass.resize(rows);
    structure.layer.resize(rows);
    structure.part.resize(rows);
    structure.block.resize(rows, layers::kNoBlock);
    structure.foreign.resize(rows);
    structure.evidence.resize(rows, Evidence::kUnresolved);
    trace.SetLayers(&structure);
    base::Result<TraceDocument> document = BuildAnnotation(trace.input(), {});
    ASSERT_TRUE(document.ok());
    EXPECT_TRUE(document->result.abstained.has_value());
    const trace::Trace back = ReadText(trace.Write(*document));
    EXPECT_EQ(back.counts.n_events, trace.trace().counts.n_events) << n;
    EXPECT_EQ(back.ledger.count(trace::LedgerCode::truncated), 0) << n;
  }
}

TEST(BuildAnnotation, WhyLayersWereNotSoughtIsTheError) {
  TestTrace trace(kText);
  std::vector<analysis::RankInput> ranks(trace.input().ranks.begin(), trace.input().ranks.end());
  ranks.front().no_layers =
      base::Error{base::ErrorCode::kFailed, "two processes on one device", "give --pid"};
  analysis::AnalysisInput input = trace.input();
  input.ranks = ranks;
  base::Result<TraceDocument> document = BuildAnnotation(input, {});
  ASSERT_FALSE(document.ok());
  EXPECT_EQ(document.error().message, "two processes on one device");
}

TEST(BuildAnnotation, ModulesNestOnOneTrack) {
  const auto scope = [](const std::string& name, int ts, int dur) {
    return R"({"ph":"X","cat":"python_function","name":"nn.Module: )" + name +
           R"(","pid":9,"tid":9,"ts":)" + std::to_string(ts) + R"(,"dur":)" + std::to_string(dur) +
           "},";
  };
  const auto launch = [](int ts, int correlation) {
    return R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":)" +
           std::to_string(ts) + R"(,"dur":1,"args":{"correlation":)" + std::to_string(correlation) +
           "}},";
  };
  const auto kernel = [](int ts, int correlation) {
    return R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":)" + std::to_string(ts) +
           R"(,"dur":5,"args":{"device":0,"stream":7,"correlation":)" +
           std::to_string(correlation) + "}},";
  };
  TestTrace trace("[" + scope("Model_0", 1, 50) + scope("Linear_0", 5, 10) + launch(2, 1) +
                  launch(6, 2) + launch(20, 3) + kernel(100, 1) + kernel(110, 2) + kernel(120, 3) +
                  "]");
  base::Result<TraceDocument> document = BuildAnnotation(trace.input(), {});
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(Slices(trace.Write(*document)),
            (std::vector<std::string>{"\"Model_0\" 100.000 25.000", "\"Linear_0\" 110.000 5.000"}));
  base::Result<TraceDocument> without = BuildAnnotation(trace.input(), {.modules = false});
  ASSERT_TRUE(without.ok());
  EXPECT_EQ(Slices(trace.Write(*without)).size(), 0U);
}

}  // namespace
}  // namespace layerscope::document

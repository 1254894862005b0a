#include "src/ingest/kineto/reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/store_text.h"

namespace layerscope::ingest::kineto {
namespace {

using trace::LedgerCode;

base::Result<trace::Trace> Read(std::string_view text, int threads = 1,
                                size_t chunk_bytes = size_t{1} << 20) {
  ReadOptions options;
  options.threads = threads;
  options.chunk_bytes = chunk_bytes;
  const auto source = io::OpenMemory(text);
  return ReadTrace(*source, options);
}

trace::Trace MustRead(std::string_view text) {
  auto trace = Read(text);
  EXPECT_TRUE(trace.ok()) << trace.error().message;
  return trace.ok() ? std::move(*trace) : trace::Trace();
}

std::string Kernel(const std::string& name, const std::string& ts) {
  return R"({"ph":"X","cat":"kernel","name":")" + name + R"(","pid":0,"tid":7,"ts":)" + ts +
         R"(,"dur":2,"args":{"device":0,"stream":7,"correlation":3}})";
}

std::string Document(const std::string& events) {
  return "{\"traceEvents\": [" + events + "]}";
}

/// One event of every kind that we keep, and text that invites wrong cuts.
const std::string& MixedDocument() {
  static const std::string text =
      R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "H100"}], "traceEvents": [
{"ph": "M", "name": "process_name", "pid": 9, "tid": 0, "ts": 1, "args": {"name": "python"}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": 100.5, "dur": 20,
 "args": {"External id": 5, "Input Dims": [[2, 8], [8]], "Input type": ["float", "float"]}},
{"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 9, "tid": 9,
 "ts": 100, "dur": 30, "args": {"Python id": 1, "list": [{"name": "x"},{"ph": "y"},{"ts": [1]}]}},
{"args": {"correlation": 3, "External id": 5}, "cat": "cuda_runtime", "dur": 5.25,
 "name": "cudaLaunchKernel", "ph": "X", "pid": 9, "tid": 9, "ts": 101},
{"ph": "X", "cat": "python_function", "name": "f\"},{\"ph\":\"X\"", "pid": 9, "tid": 9, "ts": 1e2,
 "dur": 1},
{"ph": "f", "id": 3, "pid": 9, "tid": 9, "ts": 1, "cat": "ac2g", "name": "ac2g", "bp": "e"},
{"ph": "X", "cat": "kernel", "name": "gemm<\u0041>", "pid": 0, "tid": 7, "ts": 110.001, "dur": 9,
 "args": {"device": 0, "stream": 7, "correlation": 3, "grid": [1, 2, 3], "block": [4, 1, 1]}},
{"ph": "X", "cat": "user_annotation", "name": "step[DECODE bs=1]", "pid": 9, "tid": 9, "ts": 99,
 "dur": 50}
], "distributedInfo": {"rank": 3, "world_size": 8}, "traceName": "a.json"})";
  return text;
}

TEST(ReadTrace, AnnotationsThatNameAModuleAreScopesKnownByPath) {
  const auto annotation = [](const std::string& name) {
    return R"({"ph":"X","cat":"user_annotation","name":")" + name +
           R"(","pid":9,"tid":9,"ts":10,"dur":2})";
  };
  const trace::Trace trace =
      MustRead(Document(annotation("{'Module': 'model.layers.0'}") + "," + annotation("other") +
                        "," + annotation(R"({\"Module\": \"model\", \"Inputs\": [[1, 2]]})") + "," +
                        annotation("Module:lm_head")));
  EXPECT_EQ(trace.counts.by_cat.at("X|user_annotation"), 4);
  ASSERT_EQ(trace.scopes.size(), 3U);
  EXPECT_EQ(trace.strings[trace.scopes.name[0]], "model.layers.0");
  EXPECT_EQ(trace.strings[trace.scopes.name[1]], "model");
  EXPECT_EQ(trace.strings[trace.scopes.name[2]], "lm_head");
  EXPECT_EQ(trace.scopes.is_path, (std::vector<uint8_t>{1, 1, 1}));
  EXPECT_EQ(trace.annotations.size(), 1U);
}

TEST(ReadTrace, GraphNodesOfReplayedActivities) {
  const auto event = [](const std::string& cat, const std::string& args) {
    return R"({"ph":"X","cat":")" + cat +
           R"(","name":"k","pid":0,"tid":7,"ts":1,"dur":2,"args":{)" + args + "}}";
  };
  std::string events = event("kernel", R"("correlation": 3)");
  for (int i = 0; i < 300; ++i) events += "," + event("kernel", R"("graph node id": 0)");
  events += "," + event("kernel", R"("graph id": 4, "graph node id": 17179869185)");
  events += "," + event("gpu_memset", R"("graph node id": 12)");
  events += "," + event("kernel", R"("graph id": 4)");
  for (const size_t chunk_bytes : {size_t{1000}, size_t{1} << 20}) {
    const auto trace = Read(Document(events), 2, chunk_bytes);
    ASSERT_TRUE(trace.ok());
    const trace::Activities& rows = trace->activities;
    ASSERT_EQ(rows.size(), 304U);
    EXPECT_EQ(rows.graph_node.size(), 303U) << "reaches to the last that has one";
    EXPECT_EQ(rows.GraphNodeOf(1), trace::kNoGraphNode) << "0: launched by no graph";
    EXPECT_EQ(rows.GraphNodeOf(301), 17179869185);
    EXPECT_EQ(rows.GraphNodeOf(302), 12);
    EXPECT_EQ(rows.GraphNodeOf(303), trace::kNoGraphNode);
  }
  EXPECT_TRUE(MustRead(Document(event("kernel", ""))).activities.graph_node.empty());
}

TEST(ReadTrace, ReadsOneEventOfEveryKind) {
  const trace::Trace trace = MustRead(MixedDocument());
  EXPECT_EQ(trace.counts.n_events, 8);
  EXPECT_EQ(trace.counts.by_cat.at("M|"), 1);
  EXPECT_EQ(trace.zero_ns, 99'000) << "never the ts of M and f events";
  EXPECT_EQ(trace.end_ns, 50'000);
  ASSERT_EQ(trace.activities.size(), 1U);
  EXPECT_EQ(trace.strings[trace.activities.name[0]], "gemm<A>");
  EXPECT_EQ(trace.activities.start_ns[0], 11'001);
  EXPECT_EQ(trace.activities.correlation[0], 3);
  const trace::Args& args = trace.args[trace.activities.args[0].index()];
  EXPECT_EQ(trace.strings[args.grid], "[1,2,3]");
  ASSERT_EQ(trace.calls.size(), 1U);
  EXPECT_EQ(trace.calls.external_id[0], 5) << "args before cat";
  EXPECT_EQ(trace.calls.dur_ns[0], 5'250);
  ASSERT_EQ(trace.ops.size(), 1U);
  EXPECT_EQ(trace.strings[trace.args[trace.ops.args[0].index()].input_dims], "[[2,8],[8]]");
  ASSERT_EQ(trace.scopes.size(), 1U);
  EXPECT_EQ(trace.strings[trace.scopes.name[0]], "Linear_0");
  ASSERT_EQ(trace.annotations.size(), 1U);
  EXPECT_EQ(trace.metadata.rank, 3);
  EXPECT_EQ(trace.metadata.world_size, 8);
  ASSERT_EQ(trace.metadata.devices.size(), 1U);
  EXPECT_EQ(trace.metadata.devices[0].name, "H100");
  EXPECT_TRUE(trace.ledger.ToHealth().empty());
}

TEST(ReadTrace, ACopyTellsTheRankOfEachProcess) {
  const auto kernel = [](const std::string& pid) {
    return R"({"ph":"X","cat":"kernel","name":"k","pid":)" + pid + R"(,"tid":7,"ts":1,"dur":2})";
  };
  const std::string events =
      R"("traceEvents": [)" + kernel("7") + "," + kernel("\"w 8\"") + "," + kernel("9") + "]";
  const std::string told =
      R"("layerscope": {"processes": [{"pid": 7, "rank": 3}, {"pid": "w 8", "rank": 1},
         {"pid": 9, "rank": -2}, {"pid": 10, "rank": 4}, {"rank": 5}, 6]})";
  for (const std::string& text :
       {"{" + told + "," + events + "}", "{" + events + "," + told + "}"}) {
    const trace::Trace trace = MustRead(text);
    ASSERT_EQ(trace.processes.size(), 3U);
    EXPECT_EQ(trace.processes[0].rank, 3);
    EXPECT_EQ(trace.processes[1].rank, 1);
    EXPECT_EQ(trace.processes[2].rank, std::nullopt);
    EXPECT_EQ(trace.metadata.rank, std::nullopt);
  }
}

TEST(ReadTrace, GivesTheSameStoreForEveryChunkSizeAndThreadCount) {
  const std::string expected = tests::StoreText(MustRead(MixedDocument()));
  for (size_t chunk = 1; chunk <= MixedDocument().size() + 1; chunk += chunk < 64 ? 1 : 37) {
    for (const int threads : {1, 2, 5}) {
      const auto trace = Read(MixedDocument(), threads, chunk);
      ASSERT_TRUE(trace.ok()) << trace.error().message;
      ASSERT_EQ(tests::StoreText(*trace), expected) << chunk << " bytes, threads " << threads;
    }
  }
}

TEST(ReadTrace, KeepsTheKernelThatALaunchNamesWhereverTheFileIsCut) {
  const auto call = [](const std::string& name, const std::string& args) {
    return R"({"ph":"X","cat":"cuda_runtime","name":")" + name +
           R"(","pid":9,"tid":9,"ts":1,"dur":1,"args":{)" + args + "}}";
  };
  const std::string text = Document(
      call("hipStreamBeginCapture", "") + "," +
      call("hipLaunchKernel", R"("correlation":7,"kernel":"gemm<\u0041>")") + "," +
      call("hipMemcpyAsync", R"("kernel":null)") + "," + Kernel("gemm<A>", "5") + "," +
      call("hipLaunchKernel", R"("kernel":"norm")") + "," + call("hipStreamEndCapture", ""));
  const trace::Trace trace = MustRead(text);
  ASSERT_EQ(trace.calls.size(), 5U);
  EXPECT_EQ(trace.calls.KernelOf(1), trace.activities.name[0]) << "one string for both";
  EXPECT_EQ(trace.strings[trace.calls.KernelOf(3)], "norm");
  for (const size_t row : {0, 2, 4}) EXPECT_FALSE(trace.calls.KernelOf(row).valid()) << row;
  for (size_t chunk = 1; chunk <= text.size() + 1; chunk += 7) {
    const auto cut = Read(text, 3, chunk);
    ASSERT_TRUE(cut.ok()) << cut.error().message;
    ASSERT_EQ(tests::StoreText(*cut), tests::StoreText(trace)) << chunk;
  }
}

TEST(ReadTrace, LoadsOrRefusesADocumentCutAtEveryLength) {
  const std::string& whole = MixedDocument();
  const size_t list_begin = whole.find("\"traceEvents\": [") + 16;
  for (size_t length = 0; length <= whole.size(); ++length) {
    const auto trace = Read(std::string_view(whole).substr(0, length));
    EXPECT_EQ(trace.ok(), length >= list_begin) << length;
    const bool complete = length > whole.rfind("], \"distributedInfo\"");
    if (trace.ok()) {
      EXPECT_EQ(trace->ledger.count(LedgerCode::truncated), complete ? 0 : 1) << length;
    } else {
      EXPECT_EQ(trace.error().code, base::ErrorCode::kInvalidInput);
    }
  }
}

TEST(ReadTrace, TakesABareListThatIsNotClosed) {
  const trace::Trace trace = MustRead("[" + Kernel("a", "1") + ",\n" + Kernel("b", "5") + ",\n");
  EXPECT_EQ(trace.activities.size(), 2U);
  EXPECT_EQ(trace.ledger.count(LedgerCode::unclosed_array), 1);
  EXPECT_EQ(trace.ledger.count(LedgerCode::truncated), 0);
}

TEST(ReadTrace, RepairsAControlCharacterAndKeepsEveryEvent) {
  const trace::Trace trace =
      MustRead(Document(Kernel("a", "1") + "," + Kernel("b\x01", "2") + "," + Kernel("c", "3")));
  ASSERT_EQ(trace.activities.size(), 3U);
  EXPECT_EQ(trace.strings[trace.activities.name[1]], "b\x01");
  EXPECT_EQ(trace.ledger.count(LedgerCode::repaired_text), 1);
}

TEST(ReadTrace, LosesOnlyTheEventThatIsBroken) {
  for (const char* broken :
       {R"({"ph":"X","cat":"kernel","name":"x},)", R"({"ph":"X" "cat":"kernel"},)",
        R"({"ph":"X","cat":"kernel","args":{"a":[1},)", R"(nonsense,)", R"({"ph":"X",},)"}) {
    const trace::Trace trace = MustRead(
        Document(Kernel("a", "1") + "," + broken + Kernel("b", "2") + "," + Kernel("c", "3")));
    EXPECT_EQ(trace.activities.size(), 3U) << broken;
    EXPECT_EQ(trace.ledger.count(LedgerCode::bad_event), 1) << broken;
  }
}

TEST(ReadTrace, CountsElementsThatAreNoEvents) {
  const trace::Trace trace = MustRead(Document(Kernel("a", "1") + ",null,12," + Kernel("b", "2")));
  EXPECT_EQ(trace.activities.size(), 2U);
  EXPECT_EQ(trace.ledger.count(LedgerCode::bad_event), 2);
}

TEST(ReadTrace, LeavesTsZeroOutOfZeroOnlyWhenAllElseIsAnHourLater) {
  const trace::Trace far = MustRead(Document(Kernel("a", "0") + "," + Kernel("b", "3600000001")));
  EXPECT_EQ(far.zero_ns, 3'600'000'001'000);
  EXPECT_EQ(far.ledger.count(LedgerCode::ts_zero), 1);
  const trace::Trace near = MustRead(Document(Kernel("a", "0") + "," + Kernel("b", "3600000000")));
  EXPECT_EQ(near.zero_ns, 0);
  EXPECT_EQ(near.ledger.count(LedgerCode::ts_zero), 0);
}

TEST(ReadTrace, DropsAndCountsAbsurdTimes) {
  const trace::Trace trace = MustRead(
      Document(Kernel("a", "1") + "," + Kernel("b", "1e30") + "," + Kernel("c", "\"x\"") + "," +
               R"({"ph":"X","cat":"kernel","name":"d","pid":0,"tid":7,"ts":5,"dur":86400000001})" +
               "," + R"({"ph":"X","cat":"kernel","name":"e","pid":0,"tid":7})"));
  EXPECT_EQ(trace.activities.size(), 1U);
  EXPECT_EQ(trace.counts.n_events, 5) << "counted all the same";
  EXPECT_EQ(trace.ledger.count(LedgerCode::time_out_of_range), 2);
  EXPECT_EQ(trace.ledger.count(LedgerCode::bad_time), 1);
  EXPECT_EQ(trace.ledger.count(LedgerCode::missing_ts), 1);
}

TEST(ReadTrace, KeepsProfilerStepOperatorsOfOldFilesApartFromOps) {
  const trace::Trace trace = MustRead(Document(
      R"({"ph":"X","cat":"Operator","name":"ProfilerStep#3","pid":1,"tid":"9","ts":1,"dur":9},)"
      R"({"ph":"X","cat":"Operator","name":"aten::add","pid":1,"tid":"9","ts":2,"dur":1,)"
      R"("args":{"Input dims":[[4]],"External id":"7"}})"));
  EXPECT_EQ(trace.ops.size(), 1U);
  EXPECT_EQ(trace.ops.external_id[0], 7);
  ASSERT_EQ(trace.annotations.size(), 1U);
  EXPECT_EQ(trace.annotations.is_op[0], 1);
}

TEST(ReadTrace, RefusesByName) {
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {"", "empty"},
      {" \n", "empty"},
      {"<!DOCTYPE html><html>", "HTML"},
      {"SQLite format 3\0", "SQLite"},
      {"\x0a\x05\x08\x01", "Perfetto protobuf"},
      {"[[1, 2], [3]]", "memory timeline"},
      {"[{\"model\": \"x\"}]", "not events"},
      {R"({"rocprofiler-sdk-tool": [)", "rocprofv3"},
      {R"({"schema": "1.1.1-chakra.0.0.4", "nodes": []})", "execution trace"},
      {R"({"$schema": "https://www.speedscope.app/file-format-schema.json", "profiles": []})",
       "speedscope"},
      {R"({"traceEvents": [{"ph":"X","ts":1}], "viztracer_metadata": {}})", "VizTracer"},
      {"{\"Type\": 1}\n{\"Type\": 2}\n", "JSON lines"},
      {R"({"architectures": [], "model_type": "qwen3"})", "model config"},
      {"hello", "no JSON"},
  };
  for (const auto& [text, name] : kinds) {
    const auto trace = Read(text);
    ASSERT_FALSE(trace.ok()) << name;
    EXPECT_EQ(trace.error().code, base::ErrorCode::kInvalidInput);
    EXPECT_NE(trace.error().message.find(name), std::string::npos) << trace.error().message;
  }
}

}  // namespace
}  // namespace layerscope::ingest::kineto

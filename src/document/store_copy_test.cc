#include "src/document/store_copy.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "src/document/test_trace.h"
#include "src/document/written_pids.h"

namespace layerscope::document {
namespace {

/// A process with two streams, ops, module scopes of both kinds, a step, and names.
const std::string kText = R"json({
"deviceProperties": [{"id": 0, "name": "GPU \"X\""}],
"distributedInfo": {"rank": 3, "world_size": 8},
"traceEvents": [
{"ph":"M","name":"process_name","pid":42,"tid":0,"args":{"name":"worker"}},
{"ph":"M","name":"thread_name","pid":42,"tid":7,"args":{"name":"main"}},
{"ph":"X","cat":"user_annotation","name":"execute_context_1(8)_generation_0(0)","pid":42,"tid":7,"ts":1000000.001,"dur":100},
{"ph":"X","cat":"user_annotation","name":"{'Module': 'model.layers.0'}","pid":42,"tid":7,"ts":1000001,"dur":50},
{"ph":"X","cat":"python_function","name":"nn.Module: Odd name_0","pid":42,"tid":7,"ts":1000001,"dur":60},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":42,"tid":7,"ts":1000002,"dur":9,"args":{"External id":5,"Input Dims":[[2,8],[8]],"Input type":["float","float"]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel_v7000","pid":42,"tid":7,"ts":1000003,"dur":2,"args":{"correlation":9}},
{"ph":"X","cat":"cuda_driver","name":"cuLaunchKernel","pid":42,"tid":7,"ts":1000003,"dur":3,"args":{"correlation":10}},
{"ph":"X","cat":"kernel","name":"gemm<int>","pid":42,"tid":9,"ts":1000010.25,"dur":20,"args":{"device":0,"stream":9,"correlation":9,"graph node id":77,"grid":[1,2,3],"block":[4,1,1]}},
{"ph":"X","cat":"gpu_memcpy","name":"[CUDA memcpy HtoD]","pid":42,"tid":11,"ts":1000020,"dur":1,"args":{"device":0,"stream":11,"correlation":10}},
{"ph":"X","cat":"gpu_memset","name":"[CUDA memset]","pid":42,"tid":11,"ts":1000021,"dur":1,"args":{"device":0,"stream":11}}
]})json";

std::string Copy(const trace::Trace& trace, CopyCounts* counts = nullptr) {
  CopyPlan plan;
  plan.trace = &trace;
  TextSink sink;
  base::Result<CopyCounts> copied = CopyStore(plan, {}, sink);
  EXPECT_TRUE(copied.ok());
  if (counts != nullptr) *counts = *copied;
  return sink.text();
}

std::vector<std::string> Names(const trace::Trace& trace, const std::vector<trace::StringId>& ids) {
  std::vector<std::string> names;
  for (const trace::StringId id : ids) names.emplace_back(trace.strings[id]);
  return names;
}

TEST(StoreCopy, ReadsBackToTheSameRows) {
  const trace::Trace trace = ReadText(kText);
  CopyCounts counts;
  const trace::Trace back = ReadText(Copy(trace, &counts));
  EXPECT_EQ(counts.n_input, 9);
  EXPECT_EQ(counts.n_kept, 9);
  // Two names, and name and index of two streams.
  EXPECT_EQ(counts.n_added, 6);
  EXPECT_EQ(back.counts.n_events, 15);
  EXPECT_EQ(back.zero_ns, trace.zero_ns);
  EXPECT_EQ(back.end_ns, trace.end_ns);
  EXPECT_EQ(back.metadata.rank, 3);
  EXPECT_EQ(back.metadata.world_size, 8);
  ASSERT_EQ(back.metadata.devices.size(), 1U);
  EXPECT_EQ(back.metadata.devices[0].name, "GPU \"X\"");
  EXPECT_EQ(back.activities.start_ns, trace.activities.start_ns);
  EXPECT_EQ(back.activities.dur_ns, trace.activities.dur_ns);
  EXPECT_EQ(back.activities.kind, trace.activities.kind);
  EXPECT_EQ(back.activities.correlation, trace.activities.correlation);
  EXPECT_EQ(back.activities.GraphNodeOf(0), 77);
  EXPECT_EQ(Names(back, back.activities.name), Names(trace, trace.activities.name));
  EXPECT_EQ(back.StreamText(back.activities.stream[0]), "9");
  EXPECT_EQ(back.LabelText(back.processes[back.activities.process[0].index()].pid), "42");
  const trace::Args& kernel = back.args[back.activities.args[0].index()];
  EXPECT_EQ(back.strings[kernel.grid], "[1,2,3]");
  EXPECT_EQ(back.calls.start_ns.size(), 2U);
  EXPECT_EQ(back.calls.correlation, (std::vector<int64_t>{9, 10})) << "in their order";
  EXPECT_EQ(Names(back, back.ops.name), Names(trace, trace.ops.name));
  EXPECT_EQ(back.ops.external_id, trace.ops.external_id);
  EXPECT_EQ(back.strings[back.args[back.ops.args[0].index()].input_dims], "[[2,8],[8]]");
  EXPECT_EQ(back.annotations.start_ns, trace.annotations.start_ns);
  ASSERT_EQ(back.threads.size(), 1U);
  EXPECT_EQ(back.strings[back.threads[0].name], "main");
}

TEST(StoreCopy, GraphNodesReadBackWithTheirCaptures) {
  trace::Trace trace = ReadText(kText);
  const trace::ProcessId process = trace.activities.process[0];
  trace.graph_nodes.process = {process, process};
  trace.graph_nodes.node = {50, 77};
  trace.graph_nodes.original = {trace::kNoGraphNode, 50};
  trace.graph_nodes.thread = {trace.calls.thread[0], trace::ThreadId()};
  trace.graph_nodes.start_ns = {1500, 4000};
  CopyCounts counts;
  const trace::Trace back = ReadText(Copy(trace, &counts));
  EXPECT_EQ(counts.n_input, 11);
  EXPECT_EQ(back.graph_nodes.node, trace.graph_nodes.node);
  EXPECT_EQ(back.graph_nodes.original, trace.graph_nodes.original);
  EXPECT_EQ(back.graph_nodes.start_ns, trace.graph_nodes.start_ns);
  EXPECT_EQ(back.LabelText(back.processes[back.graph_nodes.process[0].index()].pid), "42");
  EXPECT_EQ(back.LabelText(back.threads[back.graph_nodes.thread[0].index()].tid), "7");
}

TEST(StoreCopy, StreamsAreThreadsWithNamesOfTheirOwn) {
  const std::string text = Copy(ReadText(kText));
  EXPECT_NE(text.find(R"("tid":500000000,"args":{"name":"GPU 0, stream 9"})"), std::string::npos);
  EXPECT_NE(text.find(R"("tid":500000001,"args":{"name":"GPU 0, stream 11"})"), std::string::npos);
}

TEST(StoreCopy, PathsStayPathsAndOtherNamesStayNames) {
  const trace::Trace trace = ReadText(kText);
  const trace::Trace back = ReadText(Copy(trace));
  EXPECT_EQ(Names(back, back.scopes.name),
            (std::vector<std::string>{"model.layers.0", "Odd name_0"}));
  EXPECT_EQ(back.scopes.is_path, (std::vector<uint8_t>{1, 0}));
}

TEST(StoreCopy, WritesOnlyWhatThePlanKeepsAndAdds) {
  const trace::Trace trace = ReadText(kText);
  CopyPlan plan;
  plan.trace = &trace;
  plan.keeps = [](const ingest::kineto::RawEvent& event) {
    return event.kind == ingest::kineto::RowKind::kActivity && event.row == 1;
  };
  int n_left = 1;
  plan.next_added = [&n_left](std::string& event) {
    event = R"({"ph":"i","name":"added","pid":1,"tid":1,"ts":1000020})";
    return n_left-- > 0;
  };
  TextSink sink;
  const base::Result<CopyCounts> counts = CopyStore(plan, {}, sink);
  ASSERT_TRUE(counts.ok());
  EXPECT_EQ(counts->n_kept, 1);
  EXPECT_EQ(counts->n_added, 7);
  const trace::Trace back = ReadText(sink.text());
  EXPECT_EQ(Names(back, back.activities.name), std::vector<std::string>{"[CUDA memcpy HtoD]"});
  EXPECT_EQ(back.calls.size(), 0U);
}

/// No reader makes such a trace; both places clamp, so that what is asked is what is written.
TEST(StoreCopy, ATimeThatDoesNotFitIsAskedForAsItIsWritten) {
  trace::Trace trace = ReadText(kText);
  trace.zero_ns = std::numeric_limits<int64_t>::max() - 10;
  std::vector<int64_t> asked;
  CopyPlan plan;
  plan.trace = &trace;
  plan.keeps = [&asked](const ingest::kineto::RawEvent& event) {
    asked.push_back(event.start_ns);
    return event.kind == ingest::kineto::RowKind::kActivity && event.row == 0;
  };
  TextSink sink;
  ASSERT_TRUE(CopyStore(plan, {}, sink).ok());
  EXPECT_EQ(asked.back(), std::numeric_limits<int64_t>::max());
  EXPECT_NE(sink.text().find(R"("ts":9223372036854775.807)"), std::string::npos);
}

/// Two processes, each with a kernel of correlation 9; the second makes a call only with `calls`.
trace::Trace TwoProcesses(bool calls) {
  std::string text = R"json({"traceEvents": [
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":42,"tid":7,"ts":1,"dur":2,"args":{"correlation":9}},
{"ph":"X","cat":"kernel","name":"a","pid":42,"tid":9,"ts":10,"dur":2,"args":{"device":0,"stream":9,"correlation":9}},
{"ph":"X","cat":"kernel","name":"b","pid":43,"tid":9,"ts":20,"dur":2,"args":{"device":1,"stream":9,"correlation":9}})json";
  if (calls) {
    text += R"json(,
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":43,"tid":7,"ts":15,"dur":2,"args":{"correlation":9}})json";
  }
  return ReadText(text + "]}");
}

TEST(StoreCopy, AnActivitySaysTheCorrelationOfACallOfItsOwnProcess) {
  EXPECT_EQ(ReadText(Copy(TwoProcesses(true))).activities.correlation,
            (std::vector<int64_t>{9, 9}));
  EXPECT_EQ(ReadText(Copy(TwoProcesses(false))).activities.correlation,
            (std::vector<int64_t>{9, 0}));
}

TEST(StoreCopy, ProcessesOfTheSamePidStayApart) {
  trace::Trace trace = TwoProcesses(true);
  for (trace::Process& process : trace.processes) process.pid.number = 42;
  const std::string text = Copy(trace);
  const trace::Trace back = ReadText(text);
  EXPECT_EQ(back.activities.correlation, (std::vector<int64_t>{9, 9}));
  ASSERT_EQ(back.calls.size(), 2U);
  // The calls of both stand on a thread 7.
  EXPECT_NE(back.calls.thread[0], back.calls.thread[1]);
  const auto pid_of = [&back](trace::ThreadId thread) {
    return back.processes[back.threads[thread.index()].process.index()].pid.number;
  };
  EXPECT_EQ(pid_of(back.calls.thread[0]), 42);
  EXPECT_EQ(pid_of(back.calls.thread[1]), 42 + (1 << 24));
  EXPECT_EQ(back.activities.process[1], back.threads[back.calls.thread[1].index()].process);
  EXPECT_NE(text.find(R"("pid":16777258,"tid":0,"args":{"labels":"pid 42 as well"})"),
            std::string::npos);
}

TEST(WrittenPids, APidThatIsTakenIsSkipped) {
  trace::Trace trace;
  for (const int64_t pid : {7, 7, 16777223, 7, 8}) {
    trace::Process process;
    process.pid.number = pid;
    trace.processes.push_back(process);
  }
  EXPECT_EQ(WrittenPids(trace),
            (std::vector<std::string>{"7", "33554439", "16777223", "50331655", "8"}));
}

TEST(StoreCopy, ATraceWithoutRowsIsAWholeDocument) {
  const trace::Trace empty;
  const trace::Trace back = ReadText(Copy(empty));
  EXPECT_EQ(back.counts.n_events, 0);
}

TEST(StoreCopy, EndsWhenItIsStopped) {
  const trace::Trace trace = ReadText(kText);
  CopyPlan plan;
  plan.trace = &trace;
  base::StopFlag stop;
  stop.Request();
  TextSink sink;
  const base::Result<CopyCounts> counts = CopyStore(plan, {&stop, nullptr}, sink);
  ASSERT_FALSE(counts.ok());
  EXPECT_EQ(counts.error().code, base::ErrorCode::kCancelled);
}

}  // namespace
}  // namespace layerscope::document

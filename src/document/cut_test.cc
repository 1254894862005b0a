#include "src/document/cut.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "src/document/store_copy.h"
#include "src/document/test_trace.h"

namespace layerscope::document {
namespace {

std::string Event(const std::string& cat, const std::string& name, int pid, int tid, int ts,
                  int dur, const std::string& args = "") {
  return R"({"ph":"X","cat":")" + cat + R"(","name":")" + name + R"(","pid":)" +
         std::to_string(pid) + R"(,"tid":)" + std::to_string(tid) + R"(,"ts":)" +
         std::to_string(ts) + R"(,"dur":)" + std::to_string(dur) + R"(,"args":{)" + args + "}}";
}
std::string Launch(int ts, int correlation) {
  return Event("cuda_runtime", "cudaLaunchKernel", 9, 9, ts, 2,
               "\"correlation\":" + std::to_string(correlation));
}
std::string Kernel(const std::string& name, int ts, int correlation) {
  return Event("kernel", name, 0, 7, ts, 10,
               R"("device":0,"stream":7,"correlation":)" + std::to_string(correlation));
}
std::string Flow(const std::string& ph, int id) {
  return R"({"ph":")" + ph + R"(","id":)" + std::to_string(id) +
         R"(,"pid":9,"tid":9,"ts":1,"cat":"ac2g","name":"ac2g"})";
}

/// Two steps in a ProfilerStep, a Python frame and a module around both; a kernel each, and one
/// launched after them.
const std::vector<std::string> kEvents = {
    R"({"ph":"M","name":"process_name","pid":9,"tid":0,"args":{"name":"python"}})",
    Event("user_annotation", "ProfilerStep#1", 9, 9, 0, 1000),
    Event("python_function", "main.py", 9, 9, 0, 2000),
    Event("python_function", "nn.Module: Model_0", 9, 9, 5, 900),
    Event("user_annotation", "step[DECODE bs=1]", 9, 9, 10, 90),
    Event("cpu_op", "aten::a", 9, 9, 20, 10, "\"External id\":1"),
    Launch(22, 1),
    Event("user_annotation", "step[DECODE bs=2]", 9, 9, 110, 90),
    Event("cpu_op", "aten::b", 9, 9, 120, 10, "\"External id\":2"),
    Launch(122, 2),
    Event("cuda_runtime", "cudaStreamSynchronize", 9, 9, 130, 5),
    Launch(1500, 3),
    Kernel("gemm_a", 300, 1),
    Kernel("gemm_b", 320, 2),
    Kernel("sampler", 1600, 3),
    Event("gpu_user_annotation", "step[DECODE bs=2]", 0, 7, 320, 10),
    Event("Trace", "PyTorch Profiler (0)", 1, 1, 0, 3000),
    Flow("s", 1),
    Flow("s", 2),
    Flow("f", 2),
};

std::string Document() {
  std::string text = "{\"traceEvents\": [\n";
  for (const std::string& event : kEvents) text += event + (&event == &kEvents.back() ? "" : ",\n");
  return text + "\n]}";
}

/// Which of kEvents a cut holds, by position; every one must stand there byte for byte.
std::vector<size_t> KeptBy(const analysis::Selection& selection, std::string* written = nullptr) {
  TestTrace trace(Document());
  base::Result<TraceDocument> document = BuildCut(trace.input(), selection);
  EXPECT_TRUE(document.ok()) << (document.ok() ? "" : document.error().message);
  if (!document.ok()) return {};
  const std::string text = trace.Write(*document);
  if (written != nullptr) *written = text;
  std::vector<size_t> kept;
  size_t at = 0;
  for (size_t i = 0; i < kEvents.size(); ++i) {
    const size_t found = text.find(kEvents[i], at);
    if (found == std::string::npos) continue;
    kept.push_back(i);
    at = found + 1;
  }
  EXPECT_EQ(ReadText(text).counts.n_events, static_cast<int64_t>(kept.size()));
  return kept;
}

TEST(BuildCut, AStepKeepsItsOwnAndWhatEnclosesIt) {
  analysis::Selection selection;
  selection.steps = {1, 1};
  std::string text;
  // The ProfilerStep held two steps: alone with this one it would be merged into it.
  EXPECT_EQ(KeptBy(selection, &text), (std::vector<size_t>{0, 2, 3, 7, 8, 9, 10, 13, 15, 18, 19}));
  const TestTrace cut(text);
  ASSERT_EQ(cut.attribution().steps.size(), 1U);
  EXPECT_EQ(cut.attribution().steps[0].fields.requests, 2);
  EXPECT_EQ(cut.attribution().steps[0].fields.number, std::nullopt);
  EXPECT_EQ(cut.attribution().steps[0].n_launches, 1);
  ASSERT_EQ(cut.trace().activities.size(), 1U);
  EXPECT_TRUE(cut.attribution().module[0].valid());
  EXPECT_TRUE(cut.attribution().op[0].valid());
}

TEST(BuildCut, ATimeKeepsActivitiesThatStartInItAndTheirLaunches) {
  analysis::Selection selection;
  selection.from_ns = 310'000;
  selection.to_ns = 400'000;
  // Of the host nothing lies in that time but what encloses the launch at 122.
  EXPECT_EQ(KeptBy(selection), (std::vector<size_t>{0, 2, 3, 7, 8, 9, 10, 13, 15, 18, 19}));
}

TEST(BuildCut, BothStepsKeepTheirWrapper) {
  analysis::Selection selection;
  selection.phase = "decode";
  std::string text;
  const std::vector<size_t> kept = KeptBy(selection, &text);
  // ProfilerStep#1 is a step of neither run; its name says nothing that belongs to one step.
  EXPECT_EQ(kept, (std::vector<size_t>{0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 15, 17, 18, 19}));
}

TEST(BuildCut, NothingSelectedIsAMistake) {
  const TestTrace trace(Document());
  base::Result<TraceDocument> document = BuildCut(trace.input(), {});
  ASSERT_FALSE(document.ok());
  EXPECT_EQ(document.error().code, base::ErrorCode::kUsage);
}

TEST(BuildCut, AStepThatIsNotThereIsNotFound) {
  const TestTrace trace(Document());
  analysis::Selection selection;
  selection.steps = {7, 9};
  base::Result<TraceDocument> document = BuildCut(trace.input(), selection);
  ASSERT_FALSE(document.ok());
  EXPECT_EQ(document.error().code, base::ErrorCode::kNotFound);
}

TEST(BuildCut, ConditionsThatHoldNothingTogetherAreNotFound) {
  const TestTrace trace(Document());
  analysis::Selection selection;
  selection.steps = {0, 0};
  selection.module = "[unattributed]";
  base::Result<TraceDocument> document = BuildCut(trace.input(), selection);
  ASSERT_FALSE(document.ok());
  EXPECT_EQ(document.error().code, base::ErrorCode::kNotFound);
}

/// Two captures on one thread, each in an annotation; the pass names the second by its launches.
TEST(BuildCut, ACaptureKeepsWhatItsThreadDidFromItsBeginToItsEnd) {
  const auto call = [](const std::string& name, int tid, int ts) {
    return Event("cuda_runtime", name, 9, tid, ts, 2);
  };
  const std::vector<std::string> events = {
      Event("user_annotation", "capture_8_FULL", 9, 9, 0, 50),
      call("cudaStreamBeginCapture", 9, 10),
      call("cudaLaunchKernel", 9, 20),
      call("cudaStreamEndCapture", 9, 30),
      Event("user_annotation", "capture_4_FULL", 9, 9, 100, 50),
      call("cudaStreamBeginCapture", 9, 110),
      Event("cpu_op", "aten::mm", 9, 9, 119, 8),
      call("cudaLaunchKernel", 9, 120),
      call("cudaLaunchKernel", 9, 130),
      call("cudaLaunchKernel", 8, 130),
      call("cudaStreamEndCapture", 9, 140),
      Kernel("gemm", 300, 1),
  };
  std::string text = "[";
  for (const std::string& event : events) text += event + ",";
  TestTrace trace(text);
  layers::LayerStructure structure;
  structure.pass.resize(1);
  structure.layer.resize(1);
  structure.part.resize(1);
  structure.block.resize(1);
  structure.foreign.resize(1);
  structure.evidence.resize(1);
  for (const int start_us : {20, 120}) {
    layers::Pass pass;
    pass.kind = layers::PassKind::kCapture;
    pass.n_captured_launches = start_us == 20 ? 1 : 2;
    pass.captured_start_ns = start_us * 1000;
    pass.captured_end_ns = (start_us == 20 ? 22 : 132) * 1000;
    structure.passes.push_back(pass);
  }
  trace.SetLayers(&structure);
  analysis::Selection selection;
  selection.passes = {1, 1};
  base::Result<TraceDocument> document = BuildCut(trace.input(), selection);
  ASSERT_TRUE(document.ok()) << document.error().message;
  const std::string written = trace.Write(*document);
  for (size_t i = 0; i < events.size(); ++i) {
    const bool kept = i >= 4 && i <= 10 && i != 9;
    EXPECT_EQ(written.find(events[i]) != std::string::npos, kept) << events[i];
  }
}

/// Two processes, each with a launch and its kernel.
const std::string kTwoProcesses = R"({"traceEvents": [
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":42,"tid":1,"ts":1,"dur":2,"args":{"correlation":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":43,"tid":1,"ts":1,"dur":2,"args":{"correlation":2}},
{"ph":"X","cat":"kernel","name":"a","pid":42,"tid":9,"ts":10,"dur":2,"args":{"device":0,"stream":9,"correlation":1}},
{"ph":"X","cat":"kernel","name":"b","pid":43,"tid":9,"ts":20,"dur":2,"args":{"device":1,"stream":9,"correlation":2}}]})";

TEST(BuildCut, ACopyOfADatabaseKeepsTheRankOfTheProcessThatIsLeft) {
  trace::Trace trace = ReadText(kTwoProcesses);
  trace.format = trace::TraceFormat::kNsys;
  const kernel_names::RuleSet rules;
  const attribution::Attribution attribution = attribution::Attribute(trace, rules);
  analysis::RankInput rank;
  rank.trace = &trace;
  rank.attribution = &attribution;
  const std::vector<analysis::RankInput> ranks = {rank};
  analysis::AnalysisInput input;
  input.ranks = ranks;
  input.rules = &rules;
  const auto copy = [&](const analysis::Selection& selection) {
    base::Result<TraceDocument> document = BuildCut(input, selection);
    EXPECT_TRUE(document.ok());
    TextSink sink;
    EXPECT_TRUE(CopyStore(document->plan, {}, sink).ok());
    return ReadText(sink.text());
  };
  analysis::Selection selection;
  selection.rank = 1;  // the second by pid
  const trace::Trace one = copy(selection);
  EXPECT_EQ(one.activities.size(), 1U);
  EXPECT_EQ(one.metadata.rank, 1);
  selection = {};
  selection.from_ns = 0;
  const trace::Trace both = copy(selection);
  EXPECT_EQ(both.activities.size(), 2U);
  EXPECT_EQ(both.metadata.rank, std::nullopt);
  ASSERT_EQ(both.processes.size(), 2U);
  EXPECT_EQ(both.processes[0].rank, 0);
  EXPECT_EQ(both.processes[1].rank, 1);
}

TEST(BuildCut, ACopyOfATraceKeepsTheRanksOfItsProcesses) {
  const TestTrace trace(kTwoProcesses);
  analysis::Selection selection;
  selection.rank = 1;
  base::Result<TraceDocument> document = BuildCut(trace.input(), selection);
  ASSERT_TRUE(document.ok());
  const trace::Trace one = ReadText(trace.Write(*document));
  EXPECT_EQ(one.activities.size(), 1U);
  EXPECT_EQ(one.processes[one.activities.process[0].index()].rank, 1);
}

TEST(BuildCut, MendsEventsThatAreNoJsonAndCountsThem) {
  const std::string text =
      R"([{"ph":"M","name":"a\qb","pid":1,"args":{"x":01}},)" + kEvents[13] + "]";
  TestTrace damaged(text);
  analysis::Selection selection;
  selection.from_ns = 0;
  base::Result<TraceDocument> document = BuildCut(damaged.input(), selection);
  ASSERT_TRUE(document.ok()) << document.error().message;
  CopyCounts counts;
  EXPECT_EQ(damaged.Write(*document, &counts),
            "[\n{\"ph\":\"M\",\"name\":\"a\\\\qb\",\"pid\":1,\"args\":{\"x\":\"01\"}},\n" +
                kEvents[13] + "\n]\n");
  EXPECT_EQ(counts.n_repaired, 1);
}

TEST(BuildCut, AnInputThatChangedIsAnError) {
  const TestTrace trace(Document());
  analysis::Selection selection;
  selection.steps = {1, 1};
  base::Result<TraceDocument> document = BuildCut(trace.input(), selection);
  ASSERT_TRUE(document.ok());
  std::string more_rows = "[";
  for (int i = 0; i < 100; ++i) more_rows += Launch(22, 1) + ",";
  std::string moved = Document();
  moved.replace(moved.find("\"ts\":320"), 8, "\"ts\":321");
  std::string longer = Document();
  longer.insert(longer.rfind(']'), "," + Flow("s", 3));
  for (const std::string& other : {"[" + kEvents[4] + "]", more_rows, moved, longer}) {
    const std::unique_ptr<io::ByteSource> source = io::OpenMemory(other);
    TextSink sink;
    base::Result<CopyCounts> copied = CopyTrace(*source, document->plan, {}, sink);
    ASSERT_FALSE(copied.ok()) << other.substr(0, 80);
    EXPECT_EQ(copied.error().code, base::ErrorCode::kFailed);
    EXPECT_EQ(copied.error().message, "the input changed while it was read");
  }
}

}  // namespace
}  // namespace layerscope::document

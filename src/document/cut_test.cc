#include "src/document/cut.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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

TEST(BuildCut, AnInputThatChangedIsAnError) {
  const TestTrace trace(Document());
  analysis::Selection selection;
  selection.steps = {1, 1};
  base::Result<TraceDocument> document = BuildCut(trace.input(), selection);
  ASSERT_TRUE(document.ok());
  TextSource other("[" + kEvents[4] + "]");
  TextSink sink;
  base::Result<CopyCounts> copied = CopyTrace(other, document->plan, {}, sink);
  ASSERT_FALSE(copied.ok());
  EXPECT_EQ(copied.error().code, base::ErrorCode::kFailed);
}

}  // namespace
}  // namespace layerscope::document

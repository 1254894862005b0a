#include "src/session/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "src/session/stats.h"

#include "tests/support/test_folder.h"

namespace layerscope::session {
namespace {

class SessionTest : public TestFolder {};

TEST_F(SessionTest, RanksShareTheSmallestZeroAndKeepTheirOwn) {
  WriteKernel("rank1.json", "100");
  WriteKernel("rank0.json", "90");
  base::Result<Outcome> outcome = RunVerb("kernels", {folder()});
  ASSERT_TRUE(outcome.ok());
  ASSERT_EQ(outcome->run->ranks.size(), 2U);
  EXPECT_EQ(outcome->run->ranks[0].rank, 0);
  EXPECT_EQ(outcome->run->ranks[1].trace->activities.start_ns[0], 10000);
  EXPECT_EQ(outcome->result.inputs[1].t0_ns, 100000);
  EXPECT_EQ(outcome->result.inputs[1].span_ns, 2000);
}

TEST_F(SessionTest, TheFilesOwnWordOnItsRankGoesBeforeItsName) {
  const std::string path =
      WriteKernel("rank0.json", "1", R"("distributedInfo": {"rank": 5, "world_size": 8}, )");
  base::Result<Outcome> outcome = RunVerb("info", {path});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->result.inputs[0].rank, 5);
}

TEST_F(SessionTest, StrictRefusesLostData) {
  const std::string path = Write(
      "cut.json",
      R"([{"ph": "X", "cat": "kernel", "name": "a", "ts": 1, "dur": 2, "pid": 0, "tid": 7}, {"ph": "X", "na)");
  base::Result<Outcome> lenient = RunVerb("info", {path});
  ASSERT_TRUE(lenient.ok());
  EXPECT_FALSE(lenient->verdict.has_value());
  base::Result<Outcome> strict = RunVerb("info", {path}, {{"strict", "true"}});
  ASSERT_TRUE(strict.ok());
  ASSERT_TRUE(strict->verdict.has_value());
  EXPECT_EQ(strict->verdict->code, base::ErrorCode::kStrictViolated);
}

TEST_F(SessionTest, StrictRefusesANamedModelTreeThatDoesNotFit) {
  const std::string path = Write("scopes.json", R"({"traceEvents": [
    {"ph": "X", "cat": "python_function", "name": "nn.Module: Runner_0", "pid": 1, "tid": 1, "ts": 1, "dur": 9},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 1, "args": {"correlation": 1}},
    {"ph": "X", "cat": "kernel", "name": "a", "ts": 5, "dur": 2, "pid": 0, "tid": 7, "args": {"correlation": 1}}]})");
  const std::string tree = Write("tree_of_others.json", R"([["", "Other"], ["a", "Part"]])");
  const std::string fits = Write("tree_of_this.json", R"([["", "Runner"], ["a", "Part"]])");
  const auto verdict_of = [&](const RawOptions& options) {
    base::Result<Outcome> outcome = RunVerb("modules", {path}, options);
    EXPECT_TRUE(outcome.ok());
    return outcome.ok() ? outcome->verdict : std::nullopt;
  };
  EXPECT_FALSE(verdict_of({{"model-tree", tree}}).has_value());
  EXPECT_FALSE(verdict_of({{"model-tree", fits}, {"strict", "true"}}).has_value());
  const std::optional<base::Error> refused = verdict_of({{"model-tree", tree}, {"strict", "true"}});
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->code, base::ErrorCode::kStrictViolated);
  EXPECT_NE(refused->message.find("model tree is not of this trace"), std::string::npos);
}

TEST_F(SessionTest, ModelTreesOfOtherRanksNameNoModuleOfThisOne) {
  const std::string path = Write("rank3.json", R"({"traceEvents": [
    {"ph": "X", "cat": "python_function", "name": "nn.Module: Runner_0", "pid": 1, "tid": 1, "ts": 1, "dur": 9},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 1, "args": {"correlation": 1}},
    {"ph": "X", "cat": "kernel", "name": "a", "ts": 5, "dur": 2, "pid": 0, "tid": 7, "args": {"correlation": 1}}]})");
  Write("trees/model_tree_rank1.json", R"([["", "Runner"], ["a", "Part"]])");
  Write("trees/model_tree_rank0.json", R"([["", "Runner"], ["a", "Part"]])");
  const RawOptions named = {{"model-tree", folder() + "/trees"}};
  base::Result<Outcome> outcome = RunVerb("modules", {path}, named);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  const std::vector<table::HealthEntry>& warnings = outcome->result.ranks[0].warnings;
  const auto other = std::find_if(warnings.begin(), warnings.end(), [](const auto& entry) {
    return entry.code == "model_tree_of_other_rank";
  });
  ASSERT_NE(other, warnings.end());
  EXPECT_EQ(other->message,
            "--model-tree names the trees of ranks 0, 1, so rank 3 stays without paths.");
  Write("trees/model_tree_rank3.json", R"([["", "Runner"], ["a", "Part"]])");
  outcome = RunVerb("modules", {path}, {{"model-tree", folder() + "/trees"}, {"strict", "true"}});
  ASSERT_TRUE(outcome.ok());
  EXPECT_FALSE(outcome->verdict.has_value());
}

TEST_F(SessionTest, StrictRefusesACaptureThatIsNamedAndWithheldButNotOneFoundBeside) {
  const std::string path = Write("graph.json", R"({"traceEvents": [
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 1, "tid": 1, "ts": 2, "dur": 1, "args": {"correlation": 1}},
    {"ph": "X", "cat": "kernel", "name": "k1", "ts": 5, "dur": 2, "pid": 0, "tid": 7, "args": {"correlation": 1}},
    {"ph": "X", "cat": "kernel", "name": "k2", "ts": 8, "dur": 2, "pid": 0, "tid": 7, "args": {"correlation": 1}}]})");
  std::filesystem::create_directories(std::filesystem::path(folder()) / "capture_traces");
  // No capture at all: launches outside of any.
  const std::string other = Write("capture_traces/bs_1_rank0.json", R"({"traceEvents": [
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 1, "args": {"correlation": 1}}]})");
  base::Result<Outcome> named =
      RunVerb("modules", {path}, {{"capture-trace", other}, {"strict", "true"}});
  base::Result<Outcome> beside = RunVerb("modules", {path}, {{"strict", "true"}});
  ASSERT_TRUE(named.ok() && beside.ok());
  ASSERT_TRUE(named->verdict.has_value());
  EXPECT_EQ(named->verdict->code, base::ErrorCode::kStrictViolated);
  EXPECT_NE(named->verdict->message.find("--capture-trace could not be used"), std::string::npos)
      << named->verdict->message;
  EXPECT_FALSE(beside->verdict.has_value());
}

TEST_F(SessionTest, TheMemoryLimitSaysWhatWouldBeNeeded) {
  const std::string path = WriteKernel("a.json", "1");
  base::Result<Outcome> outcome = RunVerb("info", {path}, {{"memory-limit", "1MiB"}});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, base::ErrorCode::kFailed);
  EXPECT_NE(outcome.error().message.find("64.0 MiB"), std::string::npos) << outcome.error().message;
}

TEST_F(SessionTest, ErrorsNameTheFile) {
  const std::string path = Write("page.html", "<!DOCTYPE html><html></html>");
  base::Result<Outcome> outcome = RunVerb("info", {path});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, base::ErrorCode::kInvalidInput);
  EXPECT_NE(outcome.error().message.find("page.html"), std::string::npos);
}

TEST_F(SessionTest, TwoFilesOfOneRankAreAWarning) {
  const std::string a = WriteKernel("a_rank0.json", "1");
  const std::string b = WriteKernel("b_rank0.json", "1");
  base::Result<Outcome> outcome = RunVerb("info", {a, b});
  ASSERT_TRUE(outcome.ok());
  ASSERT_EQ(outcome->result.health.size(), 1U);
  EXPECT_EQ(outcome->result.health[0].code, "duplicate_rank");
}

TEST_F(SessionTest, ATableIsChosenForCsvOnly) {
  const std::string path = WriteKernel("a.json", "1");
  EXPECT_EQ(RunVerb("info", {path}, {{"table", "devices"}}).error().code, base::ErrorCode::kUsage);
  EXPECT_TRUE(RunVerb("info", {path}, {{"table", "devices"}, {"format", "csv"}}).ok());
}

TEST_F(SessionTest, WarningsOfTheWholeFileSaySoBesideASelection) {
  const std::string path = WriteKernel("a.json", "1");
  base::Result<Outcome> all = RunVerb("kernels", {path});
  base::Result<Outcome> part = RunVerb("kernels", {path}, {{"device", "0"}});
  ASSERT_TRUE(all.ok() && part.ok());
  // The kernel has neither a launch nor a module in the file.
  const std::vector<table::HealthEntry>& whole = all->result.ranks[0].warnings;
  const std::vector<table::HealthEntry>& warnings = part->result.ranks[0].warnings;
  ASSERT_EQ(whole.size(), 2U);
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_EQ(warnings[0].code, "no_launch");
  EXPECT_EQ(warnings[0].message, "In the whole file: " + whole[0].message);
  EXPECT_EQ(warnings[1].message, whole[1].message);
}

TEST_F(SessionTest, AStopRequestCancels) {
  const std::string path = WriteKernel("a.json", "1");
  base::StopFlag stop;
  stop.Request();
  base::StageClock clock;
  const AnalysisSpec* spec = FindAnalysis("info");
  Hooks hooks;
  hooks.stop = &stop;
  base::Result<Outcome> outcome = RunAnalysis({spec, {path}, {}}, hooks, clock);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, base::ErrorCode::kCancelled);
}

TEST_F(SessionTest, StatsNameStagesAndColumns) {
  const std::string path = WriteKernel("a.json", "1");
  base::StageClock clock;
  const AnalysisSpec* spec = FindAnalysis("info");
  base::Result<Outcome> outcome = RunAnalysis({spec, {path}, {}}, {}, clock);
  ASSERT_TRUE(outcome.ok());
  const std::string text = StatsText(*outcome, clock);
  for (const char* word : {"read", "attribute", "analyse", "activities", "peak memory"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word;
  }
}

}  // namespace
}  // namespace layerscope::session

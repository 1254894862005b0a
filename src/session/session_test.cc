#include "src/session/session.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "src/session/input_files.h"
#include "src/session/stats.h"

namespace layerscope::session {
namespace {

/// A directory that goes away with the test.
class SessionTest : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string("session_") + info->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = (folder_ / name).string();
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    return path;
  }
  /// A trace of one kernel.
  std::string WriteKernel(const std::string& name, const std::string& start_us,
                          const std::string& head = {}) const {
    return Write(name,
                 "{" + head +
                     R"("traceEvents": [{"ph": "X", "cat": "kernel", "name": "gemm", "ts": )" +
                     start_us + R"(, "dur": 2, "pid": 0, "tid": 7}]})");
  }
  std::string folder() const { return folder_.string(); }

  static base::Result<Outcome> RunVerb(const std::string& verb, std::vector<std::string> inputs,
                                       const RawOptions& raw = {}) {
    const AnalysisSpec* spec = FindAnalysis(verb);
    base::StageClock clock;
    return RunAnalysis({spec, std::move(inputs), *ParseOptions(AllOptions(*spec), raw)}, {}, clock);
  }

 private:
  std::filesystem::path folder_;
};

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

TEST_F(SessionTest, ADirectoryCountsTracesAndNotWhatLiesBesideThem) {
  WriteKernel("a.json", "1");
  WriteKernel("b.json", "1");
  Write("config.json", "{}");
  base::Result<std::vector<InputFile>> files = FindInputFiles({folder()});
  ASSERT_FALSE(files.ok());
  EXPECT_NE(files.error().message.find("holds 2 traces"), std::string::npos)
      << files.error().message;
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

TEST_F(SessionTest, ADirectoryOfSeveralRunsIsRefused) {
  WriteKernel("a_rank0.json", "1");
  WriteKernel("b_rank0.json", "1");
  base::Result<std::vector<InputFile>> files = FindInputFiles({folder()});
  ASSERT_FALSE(files.ok());
  EXPECT_NE(files.error().message.find("several traces of rank 0"), std::string::npos);
}

TEST_F(SessionTest, FoldersOfTracesAreRecordingsForVerbsThatReadThem) {
  WriteKernel("drive/batch1/rank0.json", "1");
  WriteKernel("drive/batch1/rank1.json", "1");
  WriteKernel("drive/batch2/rank0.json", "5");
  Write("drive/empty/notes.txt", "no trace");
  WriteKernel("drive/capture_traces/bs_1_rank0.json", "1");
  const std::string drive = folder() + "/drive";
  base::Result<std::vector<InputFile>> files = FindInputFiles({drive}, InputSet::kRecordings);
  ASSERT_TRUE(files.ok()) << files.error().message;
  ASSERT_EQ(files->size(), 3U);
  EXPECT_EQ((*files)[1].rank_from_name, 1);
  EXPECT_EQ((*files)[1].recording, drive + "/batch1");
  EXPECT_EQ((*files)[2].recording, drive + "/batch2");
  files = FindInputFiles({drive});
  ASSERT_FALSE(files.ok());
  EXPECT_EQ(files.error().code, base::ErrorCode::kInvalidInput);
  EXPECT_NE(files.error().message.find("batch1, batch2"), std::string::npos);
  base::Result<Outcome> outcome = RunVerb("info", {drive});
  ASSERT_TRUE(outcome.ok());
  ASSERT_EQ(outcome->result.health.size(), 1U);  // no duplicate_rank
  EXPECT_EQ(outcome->result.health[0].code, "recordings");
}

/// A module of `root` that launches a kernel, at `start_us`.
std::string ModuleTrace(const std::string& root, int start_us) {
  const auto event = [start_us](const std::string& cat, const std::string& name, int pid, int after,
                                int dur) {
    return fmt::format(R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": 7, "ts": {}, )"
                       R"("dur": {}, "args": {{"correlation": 1}}}})",
                       cat, name, pid, start_us + after, dur);
  };
  return "[" + event("python_function", "nn.Module: Sampler_0", 1, 0, 1) + ", " +
         event("python_function", "nn.Module: " + root + "_0", 1, 1, 9) + ", " +
         event("python_function", "nn.Module: Part_0", 1, 2, 4) + ", " +
         event("cuda_runtime", "cudaLaunchKernel", 1, 3, 1) + ", " +
         event("kernel", "gemm", 0, 5, 2) + "]";
}

const table::HealthEntry* FindEntry(const Outcome& outcome, std::string_view code) {
  for (const table::HealthEntry& entry : outcome.result.health) {
    if (entry.code == code) return &entry;
  }
  return nullptr;
}

TEST_F(SessionTest, RecordingsOfDifferentModelsAreWarnedOf) {
  Write("drive/a/rank0.json", ModuleTrace("Qwen", 10));
  Write("drive/b/rank0.json", ModuleTrace("Qwen", 500));
  base::Result<Outcome> alike = RunVerb("steps", {folder() + "/drive"});
  ASSERT_TRUE(alike.ok());
  EXPECT_EQ(FindEntry(*alike, "recordings_differ"), nullptr);
  EXPECT_EQ(FindEntry(*alike, "recordings_repeat"), nullptr);
  Write("drive/c/rank0.json", ModuleTrace("Gemma", 900));
  base::Result<Outcome> outcome = RunVerb("steps", {folder() + "/drive"});
  ASSERT_TRUE(outcome.ok());
  const table::HealthEntry* const differ = FindEntry(*outcome, "recordings_differ");
  ASSERT_NE(differ, nullptr);
  EXPECT_EQ(differ->count, 1);
  EXPECT_EQ(differ->severity, table::Severity::kWarning);
  EXPECT_NE(differ->message.find("/a of Qwen, "), std::string::npos) << differ->message;
  EXPECT_NE(differ->message.find("/c of Gemma."), std::string::npos) << differ->message;
}

TEST_F(SessionTest, AFileThatHoldsTheEventsOfAnotherRecordingIsWarnedOf) {
  Write("drive/a/rank0.json", ModuleTrace("Qwen", 10));
  Write("drive/a/rank1.json", ModuleTrace("Qwen", 20));
  Write("drive/b/rank0.json", ModuleTrace("Qwen", 10));
  Write("drive/b/rank1.json", ModuleTrace("Qwen", 21));
  base::Result<Outcome> outcome = RunVerb("steps", {folder() + "/drive"});
  ASSERT_TRUE(outcome.ok());
  const table::HealthEntry* const repeat = FindEntry(*outcome, "recordings_repeat");
  ASSERT_NE(repeat, nullptr);
  EXPECT_EQ(repeat->count, 1);
  EXPECT_NE(repeat->message.find("/b/rank0.json as "), std::string::npos) << repeat->message;
}

TEST_F(SessionTest, FoldersOfTracesBesideTracesAreNotReadAndNamed) {
  WriteKernel("run/rank0.json", "1");
  WriteKernel("run/older/rank0.json", "1");
  WriteKernel("run/captures/bs_1_rank0.json", "1");
  Write("run/model/tokenizer.json", "{}");
  base::Result<std::vector<InputFile>> files = FindInputFiles({folder() + "/run"});
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->size(), 1U);
  EXPECT_EQ(files->front().unread_folders, std::vector<std::string>{folder() + "/run/older"});
  base::Result<Outcome> outcome = RunVerb("steps", {folder() + "/run"});
  ASSERT_TRUE(outcome.ok());
  const table::HealthEntry* const unread = FindEntry(*outcome, "folders_not_read");
  ASSERT_NE(unread, nullptr);
  EXPECT_EQ(unread->count, 1);
  EXPECT_NE(unread->message.find("/run/older."), std::string::npos) << unread->message;
}

TEST_F(SessionTest, ARankThatSeveralRecordingsHaveIsNamedOnce) {
  WriteKernel("drive/a/rank0.json", "1");
  WriteKernel("drive/a/rank1.json", "2");
  WriteKernel("drive/b/rank0.json", "3");
  WriteKernel("drive/b/rank1.json", "4");
  base::Result<Outcome> outcome = RunVerb("steps", {folder() + "/drive"}, {{"rank", "7"}});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().hint, "there are: 0, 1");
}

TEST_F(SessionTest, OneFolderOfTracesIsTheRunItself) {
  WriteKernel("drive/batch1/rank0.json", "1");
  WriteKernel("drive/batch1/rank1.json", "1");
  base::Result<std::vector<InputFile>> files = FindInputFiles({folder() + "/drive"});
  ASSERT_TRUE(files.ok()) << files.error().message;
  ASSERT_EQ(files->size(), 2U);
  EXPECT_EQ((*files)[0].recording, "");
}

TEST_F(SessionTest, FilesOfTheSameRanksInSeveralFoldersAreRecordings) {
  const std::string a = WriteKernel("a/rank0.json", "1");
  const std::string b = WriteKernel("b/rank0.json", "1");
  const std::string other = WriteKernel("b/second_rank0.json", "1");
  base::Result<std::vector<InputFile>> files = FindInputFiles({a, b}, InputSet::kRecordings);
  ASSERT_TRUE(files.ok());
  EXPECT_EQ((*files)[0].recording, folder() + "/a");
  EXPECT_EQ((*files)[1].recording, folder() + "/b");
  // Twice in one folder: nothing tells what they are to each other.
  files = FindInputFiles({a, b, other}, InputSet::kRecordings);
  ASSERT_TRUE(files.ok());
  EXPECT_EQ((*files)[0].recording, "");
}

constexpr const char* kConfig =
    R"({"architectures": ["TinyForCausalLM"], "model_type": "tiny", "num_hidden_layers": 2,
        "hidden_size": 8, "num_attention_heads": 2})";

TEST_F(SessionTest, TheConfigBesideATraceIsReadWhereNoneIsNamed) {
  const std::string path = WriteKernel("run/trace.json", "1");
  const std::string config = Write("run/config.json", kConfig);
  base::Result<Outcome> outcome = RunVerb("kernels", {path});
  ASSERT_TRUE(outcome.ok());
  ASSERT_NE(outcome->run->model.config, nullptr);
  ASSERT_FALSE(outcome->result.health.empty());
  EXPECT_EQ(outcome->result.health[0].code, "side_file_used");
  EXPECT_TRUE(outcome->result.health[0].message.starts_with(config));
  outcome = RunVerb("kernels", {path}, {{"no-side-files", "true"}});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->run->model.config, nullptr);
  // `overhead` knows nothing of the model.
  outcome = RunVerb("overhead", {path});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->run->model.config, nullptr);
  EXPECT_FALSE(RunVerb("kernels", {path}, {{"output", config}}).ok());
}

TEST_F(SessionTest, AConfigThatIsNamedGoesBeforeTheOneBeside) {
  const std::string path = WriteKernel("run/trace.json", "1");
  Write("run/config.json", "{");
  const std::string named = Write("other.json", kConfig);
  base::Result<Outcome> outcome =
      RunVerb("kernels", {path}, {{"config", named}, {"strict", "true"}});
  ASSERT_TRUE(outcome.ok());
  EXPECT_NE(outcome->run->model.config, nullptr);
  EXPECT_FALSE(outcome->verdict.has_value());
}

TEST_F(SessionTest, ADamagedConfigBesideATraceIsLeftOutAndStrictRefusesIt) {
  const std::string path = WriteKernel("run/trace.json", "1");
  const std::string config = Write("run/config.json", R"({"architectures": [)");
  base::Result<Outcome> outcome = RunVerb("kernels", {path});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->run->model.config, nullptr);
  EXPECT_EQ(outcome->result.health[0].code, "side_file_unreadable");
  EXPECT_NE(outcome->result.health[0].message.find(config), std::string::npos);
  outcome = RunVerb("kernels", {path}, {{"strict", "true"}});
  ASSERT_TRUE(outcome.ok());
  ASSERT_TRUE(outcome->verdict.has_value());
  EXPECT_EQ(outcome->verdict->code, base::ErrorCode::kStrictViolated);
}

TEST_F(SessionTest, DifferentConfigsBesideTheTracesOfARunAreLeftOut) {
  const std::string a = WriteKernel("a/rank0.json", "1");
  const std::string b = WriteKernel("b/rank0.json", "1");
  Write("a/config.json", kConfig);
  Write("b/config.json", kConfig);
  base::Result<Outcome> alike = RunVerb("kernels", {a, b});
  ASSERT_TRUE(alike.ok());
  EXPECT_NE(alike->run->model.config, nullptr);
  Write("b/config.json", "{}");
  base::Result<Outcome> outcome = RunVerb("kernels", {a, b});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->run->model.config, nullptr);
  const std::vector<table::HealthEntry>& health = outcome->result.health;
  EXPECT_TRUE(std::any_of(health.begin(), health.end(), [](const table::HealthEntry& entry) {
    return entry.code == "side_file_unused";
  }));
}

TEST_F(SessionTest, ADirectoryWithOneTraceIsThatTrace) {
  const std::string path = WriteKernel("trace.json", "1");
  Write("notes.txt", "no trace");
  base::Result<std::vector<InputFile>> files = FindInputFiles({folder()});
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->size(), 1U);
  EXPECT_EQ(files->front().path, path);
  EXPECT_EQ(files->front().rank_from_name, std::nullopt);
}

TEST_F(SessionTest, ADirectoryLeavesTheMergedFileAside) {
  WriteKernel("177-TP-0-DP-0-PP-0-EP-0.trace.json", "1");
  WriteKernel("177-TP-1-DP-0-PP-0-EP-0.trace.json", "1");
  WriteKernel("merged-177.trace.json", "1");
  base::Result<std::vector<InputFile>> files = FindInputFiles({folder()});
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->size(), 2U);
  EXPECT_EQ((*files)[1].rank_from_name, 1);
}

TEST_F(SessionTest, AnEmptyDirectoryAndNoInputAreErrors) {
  EXPECT_EQ(FindInputFiles({folder()}).error().code, base::ErrorCode::kInvalidInput);
  EXPECT_EQ(FindInputFiles({}).error().code, base::ErrorCode::kUsage);
  EXPECT_EQ(FindInputFiles({"-", "-"}).error().code, base::ErrorCode::kUsage);
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

#include "src/session/recording_notes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <string>
#include <vector>

#include "src/session/input_files.h"

#include "tests/support/test_folder.h"

namespace layerscope::session {
namespace {

class RecordingNotesTest : public TestFolder {};

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

TEST_F(RecordingNotesTest, RecordingsOfDifferentModelsAreWarnedOf) {
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

TEST_F(RecordingNotesTest, AFileThatHoldsTheEventsOfAnotherRecordingIsWarnedOf) {
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

TEST_F(RecordingNotesTest, FoldersOfTracesBesideTracesAreNotReadAndNamed) {
  WriteKernel("run/rank0.json", "1");
  WriteKernel("run/older/rank0.json", "1");
  WriteKernel("run/captures/bs_1_rank0.json", "1");
  WriteKernel("run/whole/graph_capture_rank_0.1.pt.trace.json", "1");
  WriteKernel("run/rank1/request_000.json", "1");
  WriteKernel("run/requests/trace.json", "1");
  Write("run/metadata/request_metadata.json", "{}");
  Write("run/model/tokenizer.json", "{}");
  Write("run/trees/tree_rank1.json", R"({"schema_version": 2, "tree": {}})");
  base::Result<std::vector<InputFile>> files = FindInputFiles({folder() + "/run"});
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->size(), 1U);
  const std::vector<std::string> folders = {folder() + "/run/older", folder() + "/run/rank1",
                                            folder() + "/run/requests"};
  EXPECT_EQ(files->front().unread_folders, folders);
  base::Result<Outcome> outcome = RunVerb("steps", {folder() + "/run"});
  ASSERT_TRUE(outcome.ok());
  const table::HealthEntry* const unread = FindEntry(*outcome, "folders_not_read");
  ASSERT_NE(unread, nullptr);
  EXPECT_EQ(unread->count, 3);
  EXPECT_NE(unread->message.find("/run/older, "), std::string::npos) << unread->message;
}

TEST_F(RecordingNotesTest, ARankThatSeveralRecordingsHaveIsNamedOnce) {
  WriteKernel("drive/a/rank0.json", "1");
  WriteKernel("drive/a/rank1.json", "2");
  WriteKernel("drive/b/rank0.json", "3");
  WriteKernel("drive/b/rank1.json", "4");
  base::Result<Outcome> outcome = RunVerb("steps", {folder() + "/drive"}, {{"rank", "7"}});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().hint, "there are: 0, 1");
}

// Each folder once and in the order in which they are first named.
TEST_F(RecordingNotesTest, RecordingsAreCountedOnceEachHoweverTheirFilesAreNamed) {
  const std::string a0 = Write("a/rank0.json", ModuleTrace("Qwen", 10));
  const std::string b0 = Write("b/rank0.json", ModuleTrace("Gemma", 500));
  const std::string a1 = Write("a/rank1.json", ModuleTrace("Qwen", 20));
  const std::string b1 = Write("b/rank1.json", ModuleTrace("Gemma", 510));
  base::Result<Outcome> outcome = RunVerb("steps", {a0, b0, a1, b1});
  ASSERT_TRUE(outcome.ok());
  const table::HealthEntry* const recordings = FindEntry(*outcome, "recordings");
  const table::HealthEntry* const differ = FindEntry(*outcome, "recordings_differ");
  ASSERT_TRUE(recordings != nullptr && differ != nullptr);
  EXPECT_EQ(recordings->count, 2);
  const std::string folders = "The files of " + folder() + "/a, " + folder() + "/b are taken";
  EXPECT_TRUE(recordings->message.starts_with(folders)) << recordings->message;
  EXPECT_EQ(differ->count, 1);
}

TEST_F(RecordingNotesTest, EveryFolderThatIsNotReadIsCountedAndSomeAreNamed) {
  WriteKernel("run/rank0.json", "1");
  for (int i = 0; i < 10; ++i) WriteKernel(fmt::format("run/f{}/rank0.json", i), "1");
  base::Result<Outcome> outcome = RunVerb("steps", {folder() + "/run"});
  ASSERT_TRUE(outcome.ok());
  const table::HealthEntry* const unread = FindEntry(*outcome, "folders_not_read");
  ASSERT_NE(unread, nullptr);
  EXPECT_EQ(unread->count, 10);
  EXPECT_TRUE(unread->message.ends_with("/run/f7, 2 more.")) << unread->message;
}

TEST_F(RecordingNotesTest, AFolderThatCannotBeListedIsLeftOutAndNamed) {
  constexpr size_t kAlmostTooLong = PATH_MAX - 100;
  std::string name;
  while (folder().size() + name.size() < kAlmostTooLong) {
    const size_t left = kAlmostTooLong - folder().size() - name.size();
    name += "/" + std::string(std::clamp<size_t>(left - 1, 1, 200), 'd');
  }
  name.erase(0, 1);
  WriteKernel(name + "/a/rank0.json", "1");
  WriteKernel(name + "/b/rank0.json", "5");
  const std::string run = folder() + "/" + name;
  const std::string unlistable = MakeUnlistable(run);
  ASSERT_FALSE(unlistable.empty());
  base::Result<Outcome> outcome = RunVerb("steps", {run});
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->result.ranks.size(), 2U);
  const table::HealthEntry* const unlisted = FindEntry(*outcome, "folders_not_listed");
  ASSERT_NE(unlisted, nullptr);
  EXPECT_EQ(unlisted->count, 1);
  EXPECT_NE(unlisted->message.find(unlistable + "."), std::string::npos);
  // Beside traces it is no reason not to look into the others.
  WriteKernel(name + "/rank0.json", "9");
  outcome = RunVerb("steps", {run});
  ASSERT_TRUE(outcome.ok());
  const table::HealthEntry* const unread = FindEntry(*outcome, "folders_not_read");
  ASSERT_NE(unread, nullptr);
  EXPECT_EQ(unread->count, 2);
}

}  // namespace
}  // namespace layerscope::session

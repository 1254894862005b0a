#include "src/session/input_files.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/test_folder.h"

namespace layerscope::session {
namespace {

class InputFilesTest : public TestFolder {
 protected:
  /// `head`: keys in front of the events.
  void WriteTrace(const std::string& name, const std::string& head = {}) const {
    Write(name, "{" + head + R"("traceEvents": []})");
  }
};

// What `layerscope-capture serve-bench` leaves, and documents that people write into such a folder.
TEST_F(InputFilesTest, OurOwnDocumentsAreNoTracesWhateverTheirName) {
  WriteTrace("sb/traces/rank0.json");
  Write("sb/serve_bench.json", R"({"schema":"layerscope/serve-bench/1","model":"m"})");
  Write("sb/patch.json", "{\n  \"schema\": \"layerscope_patch/1\"}");
  Write("sb/tree_rank1.json", R"({"schema_version":2,"tree":{}})");
  base::Result<std::vector<InputFile>> files = FindInputFiles({folder() + "/sb"});
  ASSERT_TRUE(files.ok()) << files.error().message;
  ASSERT_EQ(files->size(), 1U);
  EXPECT_EQ(files->front().path, folder() + "/sb/traces/rank0.json");
  EXPECT_FALSE(FindInputFiles({folder() + "/sb"}, InputSet::kRuns).ok());
}

TEST_F(InputFilesTest, ATraceWithASchemaOfOursInFrontOfItsEventsIsATrace) {
  WriteTrace("rank0.json", R"("schema": "layerscope/1", )");
  EXPECT_TRUE(FindInputFiles({folder()}).ok());
}

TEST_F(InputFilesTest, AFolderOfRequestsNamesTheVerbThatReadsThem) {
  for (const char* folder_name : {"named", "listed"}) {
    const std::string prefix = std::string(folder_name) + "/" +
                               (std::string_view(folder_name) == "named" ? "request_00" : "t");
    WriteTrace(prefix + "0.json");
    WriteTrace(prefix + "1.json");
  }
  const auto hint_of = [&](const std::string& name) {
    const base::Result<std::vector<InputFile>> files = FindInputFiles({folder() + "/" + name});
    return files.ok() ? std::string() : files.error().hint;
  };
  const std::string verb = "`layerscope requests " + folder();
  EXPECT_TRUE(hint_of("named").starts_with(verb + "/named`")) << hint_of("named");
  EXPECT_TRUE(hint_of("listed").starts_with("name one of them")) << hint_of("listed");
  Write("listed/request_metadata.json", R"({"schema": "layerscope/requests/1", "requests": []})");
  EXPECT_TRUE(hint_of("listed").starts_with(verb + "/listed`")) << hint_of("listed");
}

TEST_F(InputFilesTest, ADirectoryCountsTracesAndNotWhatLiesBesideThem) {
  WriteKernel("a.json", "1");
  WriteKernel("b.json", "1");
  Write("config.json", "{}");
  Write("tokenizer.json", "{}");
  Write("model.safetensors.index.json", "{}");
  base::Result<std::vector<InputFile>> files = FindInputFiles({folder()});
  ASSERT_FALSE(files.ok());
  EXPECT_NE(files.error().message.find("holds 2 traces"), std::string::npos)
      << files.error().message;
}

TEST_F(InputFilesTest, ADirectoryOfSeveralRunsIsRefused) {
  WriteKernel("a_rank0.json", "1");
  WriteKernel("b_rank0.json", "1");
  base::Result<std::vector<InputFile>> files = FindInputFiles({folder()});
  ASSERT_FALSE(files.ok());
  EXPECT_NE(files.error().message.find("several traces of rank 0"), std::string::npos);
}

TEST_F(InputFilesTest, FoldersOfTracesAreRecordingsForVerbsThatReadThem) {
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

TEST_F(InputFilesTest, OneFolderOfTracesIsTheRunItself) {
  WriteKernel("drive/batch1/rank0.json", "1");
  WriteKernel("drive/batch1/rank1.json", "1");
  base::Result<std::vector<InputFile>> files = FindInputFiles({folder() + "/drive"});
  ASSERT_TRUE(files.ok()) << files.error().message;
  ASSERT_EQ(files->size(), 2U);
  EXPECT_EQ((*files)[0].recording, "");
}

TEST_F(InputFilesTest, FilesOfTheSameRanksInSeveralFoldersAreRecordings) {
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

TEST_F(InputFilesTest, ADirectoryWithOneTraceIsThatTrace) {
  const std::string path = WriteKernel("trace.json", "1");
  Write("notes.txt", "no trace");
  base::Result<std::vector<InputFile>> files = FindInputFiles({folder()});
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->size(), 1U);
  EXPECT_EQ(files->front().path, path);
  EXPECT_EQ(files->front().rank_from_name, std::nullopt);
}

TEST_F(InputFilesTest, ADirectoryLeavesTheMergedFileAside) {
  WriteKernel("177-TP-0-DP-0-PP-0-EP-0.trace.json", "1");
  WriteKernel("177-TP-1-DP-0-PP-0-EP-0.trace.json", "1");
  WriteKernel("merged-177.trace.json", "1");
  base::Result<std::vector<InputFile>> files = FindInputFiles({folder()});
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->size(), 2U);
  EXPECT_EQ((*files)[1].rank_from_name, 1);
}

TEST_F(InputFilesTest, AnEmptyDirectoryAndNoInputAreErrors) {
  EXPECT_EQ(FindInputFiles({folder()}).error().code, base::ErrorCode::kInvalidInput);
  EXPECT_EQ(FindInputFiles({}).error().code, base::ErrorCode::kUsage);
  EXPECT_EQ(FindInputFiles({"-", "-"}).error().code, base::ErrorCode::kUsage);
}

}  // namespace
}  // namespace layerscope::session

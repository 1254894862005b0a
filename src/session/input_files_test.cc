#include "src/session/input_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace layerscope::session {
namespace {

/// A directory that goes away with the test.
class InputFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string("inputs_") + info->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  /// `head`: keys in front of the events.
  void WriteTrace(const std::string& name, const std::string& head = {}) const {
    Write(name, "{" + head + R"("traceEvents": []})");
  }
  std::string folder() const { return folder_.string(); }

 private:
  std::filesystem::path folder_;
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

}  // namespace
}  // namespace layerscope::session

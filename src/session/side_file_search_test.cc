#include "src/session/side_file_search.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "src/session/input_files.h"
#include "src/session/side_file_name.h"

namespace layerscope::session {
namespace {

// Names as engines write them (CLI.md rule 6, formats/kineto.md).
TEST(SideFileName, KnowsWhatEnginesWriteBesideATrace) {
  const std::optional<SideName> batch = ParseSideName("bs_32_rank7.json.gz");
  ASSERT_TRUE(batch.has_value());
  EXPECT_EQ(batch->kind, SideKind::kCapture);
  EXPECT_EQ(batch->batch, 32);
  EXPECT_EQ(batch->rank, 7);
  const std::optional<SideName> whole = ParseSideName("graph_capture_rank_2.177.pt.trace.json.gz");
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(whole->kind, SideKind::kCapture);
  EXPECT_EQ(whole->batch, std::nullopt);
  EXPECT_EQ(whole->rank, 2);
  EXPECT_EQ(ParseSideName("graph_annotations_rank1.json")->kind, SideKind::kAnnotations);
  EXPECT_EQ(ParseSideName("model_tree.json")->kind, SideKind::kModelTree);
  EXPECT_EQ(ParseSideName("model_tree_rank3.json")->rank, 3);
}

TEST(SideFileName, TakesNoTraceForOne) {
  for (const char* name :
       {"rank0.177.pt.trace.json.gz", "bs_32.json", "bs_x_rank0.json", "bs_8_ranking.txt",
        "model_trees_of_june.json", "graph.json", "graph_capture_rank_0.txt"}) {
    EXPECT_FALSE(ParseSideName(name).has_value()) << name;
  }
}

/// A directory that goes away with the test.
class SideFileSearchTest : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string("side_") + info->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "run");
    std::filesystem::create_directories(folder_ / "run" / "capture_traces");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path) << "{}";
    return path;
  }

  std::filesystem::path folder_;
};

TEST_F(SideFileSearchTest, FindsBesideTheTraceWhatIsKnownByName) {
  const std::string trace = Write("run/rank0.json");
  Write("run/capture_traces/bs_8_rank0.json");
  Write("run/capture_traces/notes.json");
  Write("run/graph_annotations_rank0.json");
  Write("run/model_tree.json");
  const SideFileSet set = SideFilesBeside(trace);
  ASSERT_EQ(set.captures.size(), 1U);
  EXPECT_EQ(set.captures[0].batch, 8);
  EXPECT_TRUE(set.captures[0].beside);
  EXPECT_EQ(set.annotations.size(), 1U);
  EXPECT_EQ(set.model_trees.size(), 1U);
  EXPECT_TRUE(set.eager.empty());
}

TEST_F(SideFileSearchTest, FindsCapturesInTheFolderAbove) {
  std::filesystem::create_directories(folder_ / "capture_traces");
  std::filesystem::create_directories(folder_ / "other");
  const std::string other = Write("other/decode.json");
  Write("capture_traces/bs_1_rank0.json");
  EXPECT_EQ(SideFilesBeside(other).captures.size(), 1U);
  EXPECT_TRUE(SideFilesBeside("-").captures.empty());
}

TEST_F(SideFileSearchTest, ATraceIsNotItsOwnCapture) {
  const std::string capture = Write("run/capture_traces/bs_1_rank0.json");
  EXPECT_TRUE(SideFilesBeside(capture).captures.empty());
}

TEST_F(SideFileSearchTest, ADirectoryOfRanksHoldsNoSideFiles) {
  const std::string trace = Write("run/rank0.json");
  Write("run/bs_8_rank0.json");
  Write("run/graph_annotations_rank0.json");
  Write("run/model_tree.json");
  base::Result<std::vector<InputFile>> files = FindInputFiles({(folder_ / "run").string()});
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->size(), 1U);
  EXPECT_EQ(files->front().path, trace);
}

TEST_F(SideFileSearchTest, ADirectoryOfCapturesAloneIsLookedAtForItself) {
  const std::string capture = Write("run/capture_traces/bs_8_rank0.json");
  base::Result<std::vector<InputFile>> files =
      FindInputFiles({(folder_ / "run" / "capture_traces").string()});
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->size(), 1U);
  EXPECT_EQ(files->front().path, capture);
}

// NAME_rank<r>.json is what `layerscope-capture walk` makes of NAME.json, of several ranks.
TEST_F(SideFileSearchTest, ModelTreesOfAFolderAreToldByContentAndEachRankHasItsOwn) {
  const auto write_tree = [this](const std::string& name) {
    std::ofstream(folder_ / name) << R"({"schema_version": 2, "tree": {"class": "M"}})";
  };
  write_tree("run/tp2_rank0.json");
  write_tree("run/tp2_rank1.json");
  Write("run/other.json");
  SideFileOptions options;
  for (const char* name : {"run", "run/tp2.json"}) {
    options.model_tree = (folder_ / name).string();
    const base::Result<SideFileSet> set = NamedSideFiles(options);
    ASSERT_TRUE(set.ok()) << set.error().message;
    ASSERT_EQ(set->model_trees.size(), 2U) << name;
    EXPECT_EQ(ChooseOfRank(set->model_trees, 1)->path, (folder_ / "run/tp2_rank1.json").string());
    EXPECT_EQ(ChooseOfRank(set->model_trees, 2), nullptr);
  }
  options.model_tree = (folder_ / "run/tp2_rank7.json").string();
  EXPECT_FALSE(NamedSideFiles(options).ok());
  write_tree("run/another_model.json");
  options.model_tree = (folder_ / "run").string();
  const base::Result<SideFileSet> several = NamedSideFiles(options);
  ASSERT_FALSE(several.ok());
  EXPECT_NE(several.error().message.find("several models"), std::string::npos);
}

TEST_F(SideFileSearchTest, ANamedPathThatIsNotThereNamesItsOption) {
  SideFileOptions options;
  options.eager = (folder_ / "nowhere.json").string();
  const base::Result<SideFileSet> set = NamedSideFiles(options);
  ASSERT_FALSE(set.ok());
  EXPECT_EQ(set.error().code, base::ErrorCode::kInvalidInput);
  EXPECT_TRUE(set.error().message.starts_with("--eager-trace: ")) << set.error().message;
}

TEST_F(SideFileSearchTest, ANamedFolderStandsForTheFilesOfItsKind) {
  Write("run/rank0.json");
  Write("run/capture_traces/bs_8_rank0.json");
  Write("run/capture_traces/bs_16_rank0.json");
  SideFileOptions options;
  options.captures = (folder_ / "run").string();
  const base::Result<SideFileSet> set = NamedSideFiles(options);
  ASSERT_TRUE(set.ok());
  ASSERT_EQ(set->captures.size(), 2U);
  EXPECT_TRUE(set->captures[0].option.empty());  // one bad file of a folder is no error
  options.captures.clear();
  options.annotations = (folder_ / "run").string();
  EXPECT_FALSE(NamedSideFiles(options).ok());
}

TEST(SideFileChoice, GoesByTheRankAndNeverToAnother) {
  const std::vector<SideFilePath> files = {{"a_rank0.json", 0, {}}, {"a_rank1.json", 1, {}}};
  EXPECT_EQ(ChooseOfRank(files, 1)->path, "a_rank1.json");
  EXPECT_EQ(ChooseOfRank(files, 2), nullptr);
  EXPECT_EQ(ChooseOfRank(files, std::nullopt), nullptr);
  EXPECT_EQ(ChooseOfRank({{"a.json", {}, {}}}, 2)->path, "a.json");
  EXPECT_EQ(ChooseOfRank({files[1]}, std::nullopt)->path, "a_rank1.json");
}

TEST(SideFileChoice, CapturesOfOtherRanksServeWhereThereAreNone) {
  const std::vector<SideFilePath> files = {{"bs_8_rank0.json", 0, 8}, {"bs_8_rank1.json", 1, 8}};
  EXPECT_EQ(CapturesOfRank(files, 1).size(), 1U);
  EXPECT_EQ(CapturesOfRank(files, 5).size(), 2U);
  EXPECT_EQ(CapturesOfRank(files, std::nullopt).size(), 2U);
}

}  // namespace
}  // namespace layerscope::session

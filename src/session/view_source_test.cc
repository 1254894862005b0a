#include "src/session/view_source.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace layerscope::session {
namespace {

/// A benchmark's result and a dump, which go away with the test.
class ViewSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    const std::filesystem::path folder(testing::TempDir());
    bench_ = (folder / (std::string("view_source_") + info->name() + ".json")).string();
    metrics_ = (folder / (std::string("view_source_") + info->name() + ".txt")).string();
    std::ofstream(bench_) << R"({"completed": 1, "duration": 1, "num_prompts": 1})";
    std::ofstream(metrics_) << "vllm:num_requests_running 1\n";
  }
  void TearDown() override {
    std::filesystem::remove(bench_);
    std::filesystem::remove(metrics_);
  }

  base::Result<std::unique_ptr<ViewSource>> Open(RawOptions given) const {
    ViewRequest request;
    request.bench = {bench_};
    request.prometheus = metrics_;
    request.given = std::move(given);
    base::StageClock clock;
    return ViewSource::Open(request, {}, clock);
  }

  std::string bench_;
  std::string metrics_;
};

TEST_F(ViewSourceTest, FilesOfOptionsAreInputsToo) {
  const base::Result<std::unique_ptr<ViewSource>> source = Open({});
  ASSERT_TRUE(source.ok()) << source.error().message;
  const std::string index = (*source)->IndexJson(true, {});
  for (const std::string& path : {bench_, metrics_}) {
    EXPECT_NE(index.find("\"path\": \"" + path + "\""), std::string::npos) << index;
  }
}

// As `layerscope-capture serve-bench` leaves them.
TEST(SortViewInputs, AFolderOfResultsBringsTheTracesOfItsFolder) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / "sort_view_inputs";
  fs::remove_all(folder);
  fs::create_directories(folder / "traces");
  const std::string bench = (folder / "bench.json").string();
  std::ofstream(bench) << R"({"completed": 1, "duration": 1, "num_prompts": 1})";
  std::ofstream(folder / "serve_bench.json") << R"({"schema": "layerscope/serve-bench/1"})";
  base::Result<ViewInputs> sorted = SortViewInputs({folder.string()});
  ASSERT_TRUE(sorted.ok());
  EXPECT_EQ(sorted->workload, std::vector<std::string>{bench});
  EXPECT_TRUE(sorted->ranks.empty());
  std::ofstream(folder / "traces" / "rank0.json") << R"({"traceEvents": []})";
  sorted = SortViewInputs({folder.string()});
  ASSERT_TRUE(sorted.ok());
  EXPECT_EQ(sorted->workload, std::vector<std::string>{bench});
  EXPECT_EQ(sorted->ranks, std::vector<std::string>{folder.string()});
  fs::remove_all(folder);
}

TEST_F(ViewSourceTest, AWorkloadKeepsToTheMemoryLimit) {
  const base::Result<std::unique_ptr<ViewSource>> refused = Open({{"memory-limit", "100B"}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::ErrorCode::kFailed);
  EXPECT_EQ(refused.error().message, "--bench " + bench_ +
                                         ": too large for this --memory-limit, which leaves room "
                                         "for 12 B");
  EXPECT_EQ(refused.error().hint, "raise --memory-limit");
  EXPECT_TRUE(Open({{"memory-limit", "1MiB"}}).ok());
}

/// A line a run, as `--append-result` writes them.
TEST_F(ViewSourceTest, EachRunOfAWorkloadCanBeAskedFor) {
  std::ofstream(bench_) << R"({"completed": 1, "duration": 1, "num_prompts": 1, "ttfts": [0.25]})"
                        << "\n"
                        << R"({"completed": 1, "duration": 1, "num_prompts": 1, "ttfts": [0.5]})"
                        << "\n";
  const base::Result<std::unique_ptr<ViewSource>> source = Open({});
  ASSERT_TRUE(source.ok()) << source.error().message;
  const auto ttft_of = [&source](const RawOptions& asked) {
    const base::Result<std::string> text = (*source)->Document("workload", asked);
    if (!text.ok()) return text.error().message;
    const size_t at = text->find("\"ttft_ns\": ");
    return at == std::string::npos ? *text : text->substr(at + 11, 9);
  };
  EXPECT_EQ(ttft_of({}), "250000000");
  EXPECT_EQ(ttft_of({{"run", "0"}}), "250000000");
  EXPECT_EQ(ttft_of({{"run", "1"}}), "500000000");
  EXPECT_EQ(ttft_of({{"run", "2"}}), "no run '2' in this input");
  EXPECT_EQ(ttft_of({{"run", "-1"}}), "run '-1' is no number of a run");
  EXPECT_EQ(ttft_of({{"depth", "1"}}), "a document has no options but `run` of a workload");
}

}  // namespace
}  // namespace layerscope::session

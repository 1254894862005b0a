#include "src/session/opened_run.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "src/render/json.h"
#include "src/session/view_inputs.h"

namespace layerscope::session {
namespace {

/// A trace of six kernels on two devices, which goes away with the test.
class OpenedRunTest : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    path_ = (std::filesystem::path(testing::TempDir()) /
             (std::string("opened_run_") + info->name() + ".json"))
                .string();
    std::ofstream file(path_);
    file << R"({"traceEvents": [)";
    for (int i = 0; i < 6; ++i) {
      file << (i == 0 ? "" : ",") << R"({"ph": "X", "cat": "kernel", "name": "gemm", "ts": )"
           << 10 * i << R"(, "dur": 2, "pid": )" << i % 2 << R"(, "tid": 7, "args": {"device": )"
           << i % 2 << R"(, "stream": 7}})";
    }
    file << "]}";
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::unique_ptr<OpenedRun> Open(RawOptions given = {}) const {
    base::StageClock clock;
    base::Result<std::unique_ptr<OpenedRun>> run =
        OpenedRun::Open({path_}, std::move(given), {}, clock);
    EXPECT_TRUE(run.ok()) << run.error().message;
    return *std::move(run);
  }
  /// What the verb gives when it reads the file itself; the message where it fails.
  std::string Printed(const std::string& verb, RawOptions raw) const {
    raw["format"] = "json";
    const AnalysisSpec* const spec = FindAnalysis(verb);
    base::StageClock clock;
    const base::Result<Outcome> outcome =
        RunAnalysis({spec, {path_}, *ParseOptions(AllOptions(*spec), raw)}, {}, clock);
    return outcome.ok() ? render::RenderJson(outcome->result) : outcome.error().message;
  }
  static std::string Asked(const OpenedRun& run, const std::string& verb, const RawOptions& asked) {
    const base::Result<std::string> text = run.AnalysisJson(*FindAnalysis(verb), asked);
    return text.ok() ? *text : text.error().message;
  }

  std::string path_;
};

TEST_F(OpenedRunTest, TakesTheConfigBesideTheTraceWhereTheVerbsDo) {
  const std::filesystem::path folder = std::filesystem::path(path_).replace_extension();
  std::filesystem::create_directories(folder);
  std::filesystem::rename(path_, folder / "trace.json");
  path_ = (folder / "trace.json").string();
  std::ofstream(folder / "config.json")
      << R"({"architectures": ["TinyForCausalLM"], "model_type": "tiny", "num_hidden_layers": 2})";
  const std::unique_ptr<OpenedRun> run = Open();
  ASSERT_NE(run->run().model.config, nullptr);
  EXPECT_EQ(run->run().model.config->name, "TinyForCausalLM");  // not that of the folder
  for (const RawOptions& options : {RawOptions(), RawOptions{{"device", "1"}}}) {
    for (const char* verb : {"kernels", "passes", "overhead", "modules"}) {
      EXPECT_EQ(Asked(*run, verb, options), Printed(verb, options)) << verb;
    }
  }
  EXPECT_NE(Asked(*run, "kernels", {}).find("side_file_used"), std::string::npos);
  EXPECT_EQ(Asked(*run, "info", {}).find("side_file_used"), std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST_F(OpenedRunTest, AnswersAsTheVerbsDoWhateverTheOrder) {
  const std::unique_ptr<OpenedRun> run = Open();
  const std::vector<std::pair<std::string, RawOptions>> questions = {{"kernels", {}},
                                                                     {"info", {}},
                                                                     {"passes", {{"device", "1"}}},
                                                                     {"modules", {{"device", "1"}}},
                                                                     {"layers", {{"pass", "7"}}},
                                                                     {"summary", {}},
                                                                     {"passes", {}},
                                                                     {"kernels", {{"device", "9"}}},
                                                                     {"overhead", {}}};
  for (int round = 0; round < 2; ++round) {
    for (const auto& [verb, asked] : questions) {
      EXPECT_EQ(Asked(*run, verb, asked), Printed(verb, asked)) << verb;
    }
  }
}

TEST_F(OpenedRunTest, GivesSeveralThreadsTheirOwnAnswers) {
  const std::unique_ptr<OpenedRun> run = Open();
  const std::vector<std::string> verbs = {"kernels", "passes", "summary", "info"};
  std::vector<std::vector<std::string>> answers(8);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < answers.size(); ++i) {
    threads.emplace_back([&, i] {
      for (size_t k = 0; k < verbs.size(); ++k) {
        const std::string& verb = verbs[(i + k) % verbs.size()];
        const RawOptions device = {{"device", i % 2 == 0 ? "0" : "1"}};
        answers[i].push_back(Asked(*run, verb, verb == "info" ? RawOptions() : device));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < answers.size(); ++i) {
    for (size_t k = 0; k < verbs.size(); ++k) {
      const std::string& verb = verbs[(i + k) % verbs.size()];
      const RawOptions device = {{"device", i % 2 == 0 ? "0" : "1"}};
      EXPECT_EQ(answers[i][k], Printed(verb, verb == "info" ? RawOptions() : device)) << verb;
    }
  }
}

TEST_F(OpenedRunTest, TakesNoOptionThatNamesAFileOrChangesTheOutput) {
  const std::unique_ptr<OpenedRun> run = Open();
  EXPECT_EQ(Asked(*run, "modules", {{"config", "/etc/passwd"}}),
            "--config may name a file, so it is given where the program is started");
  EXPECT_EQ(Asked(*run, "modules", {{"output", "x"}}),
            "--output is an option of the command line: it changes no figure");
  EXPECT_EQ(Asked(*run, "modules", {{"dept", "3"}}),
            "'modules' has no option '--dept'; did you mean '--depth'?");
}

TEST_F(OpenedRunTest, KnowsLettersAndNegations) {
  const std::unique_ptr<OpenedRun> run = Open();
  EXPECT_EQ(Asked(*run, "kernels", {{"n", "1"}}), Printed("kernels", {{"rows", "1"}}));
  EXPECT_EQ(Asked(*run, "modules", {{"no-collapse", "true"}}),
            Printed("modules", {{"collapse", "false"}}));
}

TEST_F(OpenedRunTest, OptionsOfTheStartHoldForEveryVerbThatHasThem) {
  const std::unique_ptr<OpenedRun> run = Open({{"device", "1"}, {"num-layers", "3"}});
  EXPECT_EQ(Asked(*run, "kernels", {}), Printed("kernels", {{"device", "1"}, {"num-layers", "3"}}));
  EXPECT_EQ(Asked(*run, "info", {}), Printed("info", {}));
}

TEST_F(OpenedRunTest, MakesARefinementOnceForAllWhoAsk) {
  const std::unique_ptr<OpenedRun> run = Open();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { Asked(*run, "passes", {{"device", "1"}}); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(run->n_refinements(), 1);
}

// Each choice was a refinement of all ranks, of which six were kept: with eight, none was found
// again.
TEST_F(OpenedRunTest, TheChoiceOfAFilesRankRefinesNothing) {
  std::vector<std::string> paths;
  for (int rank = 0; rank < 2; ++rank) {
    paths.push_back(path_ + "_rank" + std::to_string(rank) + ".json");
    std::filesystem::copy_file(path_, paths.back(),
                               std::filesystem::copy_options::overwrite_existing);
  }
  base::StageClock clock;
  base::Result<std::unique_ptr<OpenedRun>> run = OpenedRun::Open(paths, {}, {}, clock);
  ASSERT_TRUE(run.ok()) << run.error().message;
  for (const char* rank : {"0", "1"}) {
    RawOptions raw = {{"rank", rank}, {"format", "json"}};
    const AnalysisSpec* const spec = FindAnalysis("layers");
    const base::Result<Outcome> printed =
        RunAnalysis({spec, paths, *ParseOptions(AllOptions(*spec), raw)}, {}, clock);
    EXPECT_EQ(Asked(**run, "layers", {{"rank", rank}}),
              printed.ok() ? render::RenderJson(printed->result) : printed.error().message);
  }
  EXPECT_EQ((*run)->n_refinements(), 0);
  for (const std::string& path : paths) std::filesystem::remove(path);
}

TEST(DocumentNameOf, TellsDocumentsByTheirFirstKeys) {
  EXPECT_EQ(DocumentNameOf(R"({"schema": "layerscope/per_request_profiles/1")"), "requests");
  EXPECT_EQ(DocumentNameOf(R"({"schema": "layerscope/workload/1")"), "workload");
  EXPECT_EQ(DocumentNameOf("{\n\"model\": \"m\", \"layers\": 2, \"ops_per_layer\": 3"), "map");
  EXPECT_EQ(DocumentNameOf(R"({"module_tree": 1, "traceEvents": [)"), "");
  EXPECT_EQ(DocumentNameOf(R"([{"module_tree": 1}])"), "");
  EXPECT_EQ(DocumentNameOf(""), "");
}

}  // namespace
}  // namespace layerscope::session

#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/session/session.h"

namespace layerscope::session {

/// A directory that goes away with the test.
class TestFolder : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) /
              (std::string(info->test_suite_name()) + "_" + info->name());
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
  /// A trace of one kernel. `head`: keys in front of the events.
  std::string WriteKernel(const std::string& name, const std::string& start_us,
                          const std::string& head = {}) const {
    return Write(name,
                 "{" + head +
                     R"("traceEvents": [{"ph": "X", "cat": "kernel", "name": "gemm", "ts": )" +
                     start_us + R"(, "dur": 2, "pid": 0, "tid": 7}]})");
  }
  /// A folder in `path` whose own path is longer than one may be, so that nobody can list it, root
  /// neither; empty where none can be made. `path`: at least PATH_MAX - 200 characters.
  static std::string MakeUnlistable(const std::string& path) {
    const std::string name(200, 'x');
    const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool made = folder >= 0 && ::mkdirat(folder, name.c_str(), 0700) == 0;
    if (folder >= 0) ::close(folder);
    return made ? path + "/" + name : std::string();
  }
  std::string folder() const { return folder_.string(); }

  static base::Result<Outcome> RunVerb(const std::string& verb, std::vector<std::string> inputs,
                                       const RawOptions& raw = {}) {
    const AnalysisSpec* spec = FindAnalysis(verb);
    base::StageClock clock;
    return RunAnalysis({spec, std::move(inputs), *ParseOptions(AllOptions(*spec), raw)}, {}, clock);
  }
  /// Of the health of the run; null where there is none of that code.
  static const table::HealthEntry* FindEntry(const Outcome& outcome, std::string_view code) {
    for (const table::HealthEntry& entry : outcome.result.health) {
      if (entry.code == code) return &entry;
    }
    return nullptr;
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace layerscope::session

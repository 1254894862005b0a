#include "src/io/atomic_output.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "src/io/list_directory.h"

namespace layerscope::io {
namespace {

class AtomicOutputTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(testing::TempDir()) /
                 ("layerscope_atomic_output." + std::to_string(::getpid()));
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string Path(const std::string& name) const { return (directory_ / name).string(); }
  static std::string Content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static mode_t Mode(const std::string& path) {
    struct stat info = {};
    ::stat(path.c_str(), &info);
    return info.st_mode & 0777;
  }
  /// Writes `text` under `path` and commits.
  static void Replace(const std::string& path, const std::string& text) {
    base::Result<AtomicOutput> output = AtomicOutput::Create(path);
    ASSERT_TRUE(output.ok()) << output.error().message;
    ASSERT_TRUE(output->Write(text).ok());
    ASSERT_TRUE(output->Commit().ok());
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    const base::Result<std::vector<DirectoryEntry>> entries = ListDirectory(directory_.string());
    for (const DirectoryEntry& entry : *entries) names.push_back(entry.name);
    return names;
  }

  std::filesystem::path directory_;
};

TEST_F(AtomicOutputTest, AppearsOnCommitAndLeavesNothingElse) {
  const std::string big(700'000, 'x');
  {
    base::Result<AtomicOutput> output = AtomicOutput::Create(Path("out.json"));
    ASSERT_TRUE(output.ok());
    ASSERT_TRUE(output->Write("a").ok());
    ASSERT_TRUE(output->Write(big).ok());
    ASSERT_TRUE(output->Write("b").ok());
    EXPECT_FALSE(std::filesystem::exists(Path("out.json")));
    ASSERT_TRUE(output->Commit().ok());
  }
  EXPECT_TRUE(Content(Path("out.json")) == "a" + big + "b");
  EXPECT_EQ(Names(), std::vector<std::string>{"out.json"});
}

TEST_F(AtomicOutputTest, WithoutCommitTheOldFileStays) {
  Replace(Path("out.json"), "old");
  {
    base::Result<AtomicOutput> output = AtomicOutput::Create(Path("out.json"));
    ASSERT_TRUE(output.ok());
    ASSERT_TRUE(output->Write(std::string(700'000, 'x')).ok());
    EXPECT_EQ(Content(Path("out.json")), "old");
  }
  EXPECT_EQ(Content(Path("out.json")), "old");
  EXPECT_EQ(Names(), std::vector<std::string>{"out.json"});
}

TEST_F(AtomicOutputTest, NewFilesFollowTheUmaskReplacedOnesKeepTheirMode) {
  const mode_t before = ::umask(027);
  Replace(Path("new"), "1");
  ::umask(before);
  EXPECT_EQ(Mode(Path("new")), mode_t{0640});
  ::chmod(Path("new").c_str(), 0604);
  Replace(Path("new"), "2");
  EXPECT_EQ(Mode(Path("new")), mode_t{0604});
}

TEST_F(AtomicOutputTest, ALinkStaysALink) {
  Replace(Path("real"), "1");
  std::filesystem::create_symlink("real", Path("link"));
  Replace(Path("link"), "2");
  EXPECT_TRUE(std::filesystem::is_symlink(Path("link")));
  EXPECT_EQ(Content(Path("real")), "2");
}

TEST_F(AtomicOutputTest, ADeviceIsWrittenNotReplaced) {
  Replace("/dev/null", "gone");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(AtomicOutputTest, RefusesADirectory) {
  const base::Result<AtomicOutput> output = AtomicOutput::Create(directory_.string());
  ASSERT_FALSE(output.ok());
  EXPECT_EQ(output.error().code, base::ErrorCode::kFailed);
  EXPECT_EQ(output.error().message, "writing " + directory_.string() + ": it is a directory");
  EXPECT_EQ(output.error().hint, "name a file in it");
}

TEST_F(AtomicOutputTest, SaysWhenTheDirectoryIsMissing) {
  const base::Result<AtomicOutput> output = AtomicOutput::Create(Path("none/out.json"));
  ASSERT_FALSE(output.ok());
  EXPECT_EQ(output.error().hint, "make its directory first");
  EXPECT_EQ(AtomicOutput::Create("").error().message, "the name of the output is empty");
}

TEST_F(AtomicOutputTest, AFullDiskIsAnError) {
  base::Result<AtomicOutput> output = AtomicOutput::Create("/dev/full");
  if (!output.ok()) GTEST_SKIP() << "no /dev/full here";
  const base::Status status = output->Write(std::string(700'000, 'x'));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, base::ErrorCode::kFailed);
  EXPECT_EQ(status.error().hint, "free some space on that disk");
}

TEST_F(AtomicOutputTest, ListsRegularFilesSortedByName) {
  Replace(Path("b"), "22");
  Replace(Path("a"), "1");
  std::filesystem::create_directory(Path("c"));
  const base::Result<std::vector<DirectoryEntry>> entries = ListDirectory(directory_.string());
  ASSERT_TRUE(entries.ok());
  ASSERT_EQ(entries->size(), size_t{2});
  EXPECT_EQ((*entries)[0].name, "a");
  EXPECT_EQ((*entries)[0].bytes, 1);
  EXPECT_EQ((*entries)[1].name, "b");
  EXPECT_EQ((*entries)[1].bytes, 2);
}

TEST_F(AtomicOutputTest, ListingWhatIsNoDirectoryIsInvalidInput) {
  Replace(Path("a"), "1");
  for (const std::string& path : {Path("a"), Path("none")}) {
    const base::Result<std::vector<DirectoryEntry>> entries = ListDirectory(path);
    ASSERT_FALSE(entries.ok());
    EXPECT_EQ(entries.error().code, base::ErrorCode::kInvalidInput);
  }
}

}  // namespace
}  // namespace layerscope::io

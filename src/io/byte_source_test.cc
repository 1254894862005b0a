#include "src/io/byte_source.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/support/compressed_fixture.h"

namespace layerscope::io {
namespace {

class ByteSourceFile : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(testing::TempDir()) /
                 ("layerscope_byte_source." + std::to_string(::getpid()));
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string Path(const std::string& name) const { return (directory_ / name).string(); }
  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(Path(name), std::ios::binary) << bytes;
    return Path(name);
  }

  std::filesystem::path directory_;
};

std::string Slurp(const std::string& path) {
  base::Result<std::unique_ptr<ByteSource>> source = OpenFile(path);
  if (!source.ok()) return "error: " + source.error().message;
  return ReadAll(**source, 100'000);
}

TEST_F(ByteSourceFile, KindIsSeenFromTheBytesNotFromTheName) {
  const std::string text = TraceLikeText(1'500'000);
  EXPECT_TRUE(Slurp(Write("plain.json.gz", text)) == text);
  EXPECT_TRUE(Slurp(Write("gzip.json", GzipMember(text))) == text);
  EXPECT_TRUE(Slurp(Write("zstd.json", ZstdFrame(text))) == text);
}

TEST_F(ByteSourceFile, VeryShortFilesArePlain) {
  for (const std::string text : {"", "{", "{}", "[1]"}) EXPECT_EQ(Slurp(Write("s", text)), text);
}

TEST_F(ByteSourceFile, CountsTheBytesOfTheFile) {
  const std::string text = TraceLikeText(1'500'000);
  const std::string path = Write("a", text);
  base::Result<std::unique_ptr<ByteSource>> source = OpenFile(path);
  ASSERT_TRUE(source.ok());
  EXPECT_EQ((*source)->bytes_total(), 1'500'000);
  EXPECT_EQ((*source)->bytes_consumed(), 0);
  std::string span(1000, '\0');
  ASSERT_EQ(*(*source)->Read(std::span<char>(span.data(), span.size())), size_t{1000});
  EXPECT_EQ((*source)->bytes_consumed(), 1000);
  EXPECT_EQ(ReadAll(**source, 700'000).size(), size_t{1'499'000});
  EXPECT_EQ((*source)->bytes_consumed(), 1'500'000);
}

TEST_F(ByteSourceFile, WhatIsAppendedWhileReadingIsReadToo) {
  const std::string path = Write("live.json", std::string(1'000'000, 'a'));
  base::Result<std::unique_ptr<ByteSource>> source = OpenFile(path);
  ASSERT_TRUE(source.ok());
  std::string span(1'000'000, '\0');
  ASSERT_EQ(*(*source)->Read(std::span<char>(span.data(), span.size())), span.size());
  std::ofstream(path, std::ios::app) << "bb";
  EXPECT_EQ(ReadAll(**source, 100), "bb");
}

TEST_F(ByteSourceFile, APipeIsReadToItsEndInFullSpans) {
  const std::string path = Path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const std::string text = TraceLikeText(1'000'000);
  const std::string bytes = GzipMember(text);
  std::thread writer([&] { std::ofstream(path, std::ios::binary) << bytes; });
  base::Result<std::unique_ptr<ByteSource>> source = OpenFile(path);
  ASSERT_TRUE(source.ok());
  EXPECT_EQ((*source)->bytes_total(), -1);
  int short_reads = 0;
  EXPECT_TRUE(ReadAll(**source, 12'345, &short_reads) == text);
  EXPECT_EQ(short_reads, 1);
  writer.join();
}

TEST_F(ByteSourceFile, AMissingFileNamesItsNearestNeighbour) {
  Write("rank0.json", "{}");
  const base::Result<std::unique_ptr<ByteSource>> source = OpenFile(Path("rnak0.json"));
  ASSERT_FALSE(source.ok());
  EXPECT_EQ(source.error().code, base::ErrorCode::kInvalidInput);
  EXPECT_EQ(source.error().message,
            "reading " + Path("rnak0.json") + ": no such file; did you mean 'rank0.json'?");
  EXPECT_NE(source.error().hint, "");
}

TEST_F(ByteSourceFile, ADirectoryIsRefused) {
  const base::Result<std::unique_ptr<ByteSource>> source = OpenFile(directory_.string());
  ASSERT_FALSE(source.ok());
  EXPECT_EQ(source.error().code, base::ErrorCode::kInvalidInput);
  EXPECT_EQ(source.error().message,
            "reading " + directory_.string() + ": it is a directory, not a file");
  EXPECT_NE(source.error().hint, "");
}

TEST_F(ByteSourceFile, AnUnreadableFileIsRefused) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  const std::string path = Write("secret", "{}");
  ::chmod(path.c_str(), 0);
  const base::Result<std::unique_ptr<ByteSource>> source = OpenFile(path);
  ASSERT_FALSE(source.ok());
  EXPECT_EQ(source.error().code, base::ErrorCode::kInvalidInput);
  EXPECT_EQ(source.error().message, "reading " + path + ": permission denied");
}

TEST(ByteSourceMemory, EveryKindReadsFromMemory) {
  const std::string text = TraceLikeText(100'000);
  for (const std::string& bytes : {text, GzipMember(text), ZstdFrame(text)}) {
    const std::unique_ptr<ByteSource> source = OpenMemory(bytes);
    EXPECT_TRUE(ReadAll(*source, 4096) == text);
    EXPECT_EQ(source->bytes_total(), static_cast<int64_t>(bytes.size()));
    EXPECT_EQ(source->bytes_consumed(), static_cast<int64_t>(bytes.size()));
  }
}

TEST(ByteSourceMemory, AnEmptySpanReadsNothing) {
  const std::string bytes = GzipMember("abc");
  const std::unique_ptr<ByteSource> source = OpenMemory(bytes);
  EXPECT_EQ(*source->Read({}), size_t{0});
  EXPECT_EQ(ReadAll(*source, 10), "abc");
}

}  // namespace
}  // namespace layerscope::io

#include "src/io/gzip_sink.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "src/io/atomic_output.h"
#include "src/io/byte_source.h"

namespace layerscope::io {
namespace {

class FileSink : public ByteSink {
 public:
  explicit FileSink(AtomicOutput& file) : file_(file) {}
  base::Status Write(std::string_view bytes) override { return file_.Write(bytes); }

 private:
  AtomicOutput& file_;
};

/// Compresses in pieces of `piece` bytes and reads the file back.
std::string ThereAndBack(const std::string& text, size_t piece) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "layerscope_gzip_sink_test.gz").string();
  {
    base::Result<AtomicOutput> file = AtomicOutput::Create(path);
    EXPECT_TRUE(file.ok());
    FileSink below(*file);
    GzipSink sink(below);
    for (size_t at = 0; at < text.size(); at += piece) {
      EXPECT_TRUE(sink.Write(std::string_view(text).substr(at, piece)).ok());
    }
    EXPECT_TRUE(sink.Finish().ok());
    EXPECT_TRUE(file->Commit().ok());
  }
  base::Result<std::unique_ptr<ByteSource>> source = OpenFile(path);
  EXPECT_TRUE(source.ok());
  std::string back(text.size() + 1, '\0');
  base::Result<size_t> read = (*source)->Read(back);
  EXPECT_TRUE(read.ok());
  back.resize(*read);
  EXPECT_EQ((*source)->damage(), "");
  std::filesystem::remove(path);
  return back;
}

TEST(GzipSink, WhatWasWrittenIsReadBack) {
  std::string text;
  uint32_t state = 1;
  for (int i = 0; i < 3'000'000; ++i) {
    state = state * 1664525U + 1013904223U;
    text += static_cast<char>(i % 7 == 0 ? state >> 24U : 'a' + i % 26);
  }
  EXPECT_EQ(ThereAndBack(text, 100'000), text);
  EXPECT_EQ(ThereAndBack(text, text.size()), text);
  EXPECT_EQ(ThereAndBack("{}", 1), "{}");
}

TEST(GzipSink, NothingIsAnEmptyMember) {
  EXPECT_EQ(ThereAndBack("", 1), "");
}

}  // namespace
}  // namespace layerscope::io

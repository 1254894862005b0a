#include "src/io/small_file.h"

#include <gtest/gtest.h>

#include <fstream>

namespace layerscope::io {
namespace {

std::string WriteFile(const std::string& name, const std::string& bytes) {
  std::string path = testing::TempDir() + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

TEST(SmallFileTest, ReadsUpToTheLimitAndRefusesMore) {
  const std::string path = WriteFile("small_file_test.txt", std::string(20000, 'x'));
  const auto whole = ReadSmallFile(path, 20000, "a note", "hint");
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole->size(), 20000U);
  const auto refused = ReadSmallFile(path, 19999, "a note", "hint");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::ErrorCode::kInvalidInput);
  EXPECT_EQ(refused.error().message, path + ": too large for a note");
  EXPECT_EQ(refused.error().hint, "hint");
}

TEST(SmallFileTest, RefusesAFileThatDoesNotExist) {
  const auto refused = ReadSmallFile(testing::TempDir() + "no/such", 10, "a note", "hint");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace layerscope::io

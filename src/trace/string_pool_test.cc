#include "src/trace/string_pool.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace layerscope::trace {
namespace {

TEST(StringPool, GivesEqualTextOneIdInOrderOfFirstAppearance) {
  StringPool pool;
  EXPECT_EQ(pool.Intern("a"), StringId(0));
  EXPECT_EQ(pool.Intern("b"), StringId(1));
  EXPECT_EQ(pool.Intern("a"), StringId(0));
  EXPECT_EQ(pool.size(), 2U);
  EXPECT_EQ(pool[StringId(1)], "b");
}

TEST(StringPool, TheEmptyStringIsAString) {
  StringPool pool;
  const StringId empty = pool.Intern("");
  EXPECT_TRUE(empty.valid());
  EXPECT_EQ(pool[empty], "");
  EXPECT_EQ(pool.Find(""), empty);
}

TEST(StringPool, AnInvalidIdReadsAsEmpty) {
  EXPECT_EQ(StringPool()[StringId()], "");
}

TEST(StringPool, FindAddsNothing) {
  StringPool pool;
  EXPECT_FALSE(pool.Find("a").valid());
  EXPECT_EQ(pool.size(), 0U);
}

TEST(StringPool, TextWithZeroBytesIsKeptWhole) {
  StringPool pool;
  const std::string text("a\0b", 3);
  EXPECT_EQ(pool[pool.Intern(text)], text);
  EXPECT_FALSE(pool.Find("a").valid());
}

TEST(StringPool, ViewsSurviveGrowthAndMoves) {
  StringPool pool;
  const std::string_view first = pool[pool.Intern("first")];
  for (int i = 0; i < 20000; ++i) pool.Intern("text " + std::to_string(i));
  const std::string large(200000, 'x');
  const StringId large_id = pool.Intern(large);
  StringPool moved = std::move(pool);
  EXPECT_EQ(first, "first");
  EXPECT_EQ(moved[large_id], large);
  EXPECT_EQ(moved.Find("text 19999"), StringId(20000));
  EXPECT_GE(moved.bytes(), large.size());
}

}  // namespace
}  // namespace layerscope::trace

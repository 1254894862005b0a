#include "src/ingest/kineto/boundary.h"

#include <gtest/gtest.h>

namespace layerscope::ingest::kineto {
namespace {

TEST(FindLastBoundary, FindsTheLastPairOfEvents) {
  const std::string_view text = R"({"ph":"X"},{"ph":"X"} ,
 {"name":"k")";
  const auto boundary = FindLastBoundary(text);
  ASSERT_TRUE(boundary.has_value());
  EXPECT_EQ(text.substr(0, boundary->end), R"({"ph":"X"},{"ph":"X"})");
  EXPECT_EQ(text.substr(boundary->next), R"({"name":"k")");
}

TEST(FindLastBoundary, IgnoresObjectsWithKeysThatEventsDoNotHave) {
  EXPECT_FALSE(FindLastBoundary(R"({"a":[{"x":1},{"y":2}])").has_value());
}

TEST(FindLastBoundary, IgnoresTextInsideStrings) {
  EXPECT_FALSE(FindLastBoundary(R"({"name":"},{\"ph\"")").has_value());
  EXPECT_FALSE(FindLastBoundary(R"({"name":"},{","x")").has_value());
}

TEST(FindLastBoundary, NeedsAnObjectInFront) {
  EXPECT_FALSE(FindLastBoundary(R"([1,{"ph":"X")").has_value());
  EXPECT_FALSE(FindLastBoundary(R"({"ph":"X")").has_value());
  EXPECT_FALSE(FindLastBoundary("").has_value());
}

TEST(FindFirstBoundary, StartsAtTheGivenPlace) {
  const std::string_view text = R"({"ph":1},{"ph":2},{"ph":3})";
  EXPECT_EQ(FindFirstBoundary(text, 1)->next, 9U);
  EXPECT_EQ(FindFirstBoundary(text, 10)->next, 18U);
  EXPECT_FALSE(FindFirstBoundary(text, 19).has_value());
}

}  // namespace
}  // namespace layerscope::ingest::kineto

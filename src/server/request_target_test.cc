#include "src/server/request_target.h"

#include <gtest/gtest.h>

#include <string>

namespace layerscope::server {
namespace {

using Query = std::map<std::string, std::string>;

TEST(RequestTarget, PartsAPathAndItsQuery) {
  const base::Result<RequestTarget> target =
      ParseRequestTarget("/api/analysis/modules?depth=3&no-comm&root=a%26b%3dc+d");
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->path, "/api/analysis/modules");
  EXPECT_EQ(target->query, (Query{{"depth", "3"}, {"no-comm", "true"}, {"root", "a&b=c d"}}));
}

TEST(RequestTarget, TakesEmptyValuesAndEmptyPairs) {
  const base::Result<RequestTarget> target = ParseRequestTarget("/?a=&&b&");
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->query, (Query{{"a", ""}, {"b", "true"}}));
}

TEST(RequestTarget, LeavesEscapesOfThePathAlone) {
  const base::Result<RequestTarget> target = ParseRequestTarget("/%2e%2e/api//view");
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->path, "/%2e%2e/api//view");
}

TEST(RequestTarget, RefusesOtherForms) {
  for (const char* text : {"", "api", "*", "http://localhost/", "localhost:80"}) {
    EXPECT_FALSE(ParseRequestTarget(text).ok()) << text;
  }
}

TEST(RequestTarget, RefusesBadEscapesAndNul) {
  for (const char* text : {"/?a=%", "/?a=%4", "/?a=%zz", "/?a=%00", "/?%00=1", "/?=1"}) {
    EXPECT_FALSE(ParseRequestTarget(text).ok()) << text;
  }
}

TEST(RequestTarget, RefusesControlCharactersAndSpaces) {
  EXPECT_FALSE(ParseRequestTarget("/a b").ok());
  EXPECT_FALSE(ParseRequestTarget(std::string_view("/a\0b", 4)).ok());
  EXPECT_FALSE(ParseRequestTarget("/a\r\nHost: x").ok());
  EXPECT_FALSE(ParseRequestTarget("/a\x7f").ok());
  // Whether char has a sign or not.
  EXPECT_FALSE(ParseRequestTarget("/\xc3\xa4").ok());
}

TEST(RequestTarget, RefusesANameThatStandsTwice) {
  EXPECT_FALSE(ParseRequestTarget("/?depth=1&depth=2").ok());
  EXPECT_FALSE(ParseRequestTarget("/?depth=1&dept%68=2").ok());
}

TEST(RequestTarget, RefusesWhatIsTooLong) {
  EXPECT_TRUE(ParseRequestTarget("/" + std::string(kMaxTargetBytes - 1, 'a')).ok());
  EXPECT_FALSE(ParseRequestTarget("/" + std::string(kMaxTargetBytes, 'a')).ok());
}

// Expected keys: what encodeURIComponent makes of the same texts (ECMA-262, 19.2.6.4).
TEST(SliceKey, OrdersByNameAndEscapesAsJavaScriptDoes) {
  EXPECT_EQ(SliceKey("summary", {}), "summary");
  EXPECT_EQ(SliceKey("modules", {{"root", "a b&ü"}, {"depth", "3"}, {"no-comm", "true"}}),
            "modules?depth=3&no-comm&root=a%20b%26%C3%BC");
  EXPECT_EQ(SliceKey("kernels", {{"match", "(a)*!'~._-"}}), "kernels?match=(a)*!'~._-");
}

}  // namespace
}  // namespace layerscope::server

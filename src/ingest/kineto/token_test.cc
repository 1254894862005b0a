#include "src/ingest/kineto/token.h"

#include <gtest/gtest.h>

#include <string>

namespace layerscope::ingest::kineto {
namespace {

TEST(ParseInteger, TakesIntegersAndIntegralTexts) {
  EXPECT_EQ(ParseInteger("42"), 42);
  EXPECT_EQ(ParseInteger("\"42\""), 42);
  EXPECT_EQ(ParseInteger("-1"), -1);
  EXPECT_EQ(ParseInteger("5.0"), 5);
  EXPECT_EQ(ParseInteger("5.5"), std::nullopt);
  EXPECT_EQ(ParseInteger("\"stream 7\""), std::nullopt);
  EXPECT_EQ(ParseInteger("\"128_hack\""), std::nullopt);
  EXPECT_EQ(ParseInteger("99999999999999999999"), std::nullopt);
  EXPECT_EQ(ParseInteger(""), std::nullopt);
}

// Expectations are RFC 8259 section 7.
TEST(Unescape, ResolvesEveryJsonEscape) {
  std::string out;
  EXPECT_TRUE(Unescape(R"(a\"b\\c\/d\n\t\u0041\u00e9\ud83d\ude00)", out));
  EXPECT_EQ(out, "a\"b\\c/d\n\tA\xC3\xA9\xF0\x9F\x98\x80");
}

TEST(Unescape, KeepsWhatIsNoEscapeAndSaysSo) {
  std::string out;
  EXPECT_FALSE(Unescape(R"(C:\q\u12)", out));
  EXPECT_EQ(out, R"(C:\q\u12)");
}

TEST(Unescape, ReplacesALoneSurrogate) {
  std::string out;
  EXPECT_TRUE(Unescape(R"(\ud83dx)", out));
  EXPECT_EQ(out, "\xEF\xBF\xBDx");
}

TEST(WithoutSpace, LeavesStringsAlone) {
  EXPECT_EQ(WithoutSpace("[ [2, 8],\n [\"a b\\\" \"] ]"), "[[2,8],[\"a b\\\" \"]]");
}

}  // namespace
}  // namespace layerscope::ingest::kineto

#include "src/ingest/kineto/text_repair.h"

#include <gtest/gtest.h>

#include <string>

namespace layerscope::ingest::kineto {
namespace {

TEST(RepairText, LeavesGoodTextAlone) {
  std::string out;
  const std::string good = "{\"a\": \"\xC3\xA9 \\\" \xF0\x9F\x98\x80\",\n\t\"b\": 1}";
  EXPECT_EQ(RepairText(good, out), 0);
  EXPECT_EQ(out, good);
}

TEST(RepairText, EscapesControlCharactersInsideStrings) {
  std::string out;
  EXPECT_EQ(RepairText(std::string_view("{\"a\": \"x\x01y\nz\0\"}", 15), out), 3);
  EXPECT_EQ(out, "{\"a\": \"x\\u0001y\\u000az\\u0000\"}");
}

TEST(RepairText, ReplacesControlCharactersOutsideStringsBySpaces) {
  std::string out;
  EXPECT_EQ(RepairText("{\x02\"a\": 1}", out), 1);
  EXPECT_EQ(out, "{ \"a\": 1}");
}

// Which sequences are valid: RFC 3629 section 4; how many U+FFFD: Unicode 15 section 3.9.
TEST(RepairText, ReplacesBytesThatAreNoUtf8) {
  std::string out;
  EXPECT_EQ(RepairText("\"\xFF\"", out), 1);
  EXPECT_EQ(out, "\"\xEF\xBF\xBD\"");
  EXPECT_EQ(RepairText("\"\xC0\xAF\"", out), 2) << "overlong slash";
  EXPECT_EQ(RepairText("\"\xED\xA0\x80\"", out), 3) << "surrogate";
  EXPECT_EQ(RepairText("\"\xE2\x82\"", out), 1) << "a cut sequence is one U+FFFD";
  EXPECT_EQ(RepairText("\"\xF4\x90\x80\x80\"", out), 4) << "above U+10FFFF";
}

TEST(RepairText, KnowsThatAnEscapedQuoteDoesNotEndAString) {
  std::string out;
  EXPECT_EQ(RepairText("\"a\\\"\x01\"", out), 1);
  EXPECT_EQ(out, "\"a\\\"\\u0001\"");
}

}  // namespace
}  // namespace layerscope::ingest::kineto

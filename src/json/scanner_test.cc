#include "src/json/scanner.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace layerscope::json {
namespace {

using Token = Scanner::Token;

/// Tokens as one line: brackets as they are, keys with a colon, texts in quotes.
std::string Tokens(std::string_view text) {
  Scanner scanner(text);
  std::string line;
  for (;;) {
    switch (scanner.Next()) {
      case Token::kBeginObject:
        line += '{';
        break;
      case Token::kEndObject:
        line += '}';
        break;
      case Token::kBeginArray:
        line += '[';
        break;
      case Token::kEndArray:
        line += ']';
        break;
      case Token::kKey:
        line += std::string(scanner.text()) + ':';
        break;
      case Token::kString:
        line += '\'' + std::string(scanner.text()) + '\'';
        break;
      case Token::kNumber:
        line += std::string(scanner.text()) + ' ';
        break;
      case Token::kTrue:
        line += "T ";
        break;
      case Token::kFalse:
        line += "F ";
        break;
      case Token::kNull:
        line += "N ";
        break;
      case Token::kEnd:
        return line;
      case Token::kError:
        return line + "!" + std::to_string(scanner.offset()) + (scanner.cut() ? " cut" : "");
    }
  }
}

TEST(Scanner, GivesNumbersAsTheyAreWritten) {
  EXPECT_EQ(Tokens(R"({"a": [1.50, -2e-3, 12345678901234567890123]})"),
            "{a:[1.50 -2e-3 12345678901234567890123 ]}");
}

TEST(Scanner, ReadsTheWordsThatPythonWrites) {
  EXPECT_EQ(Tokens("[NaN, Infinity, -Infinity, null, true, false]"),
            "[NaN Infinity -Infinity N T F ]");
}

TEST(Scanner, ReadsDocumentsOneBehindTheOther) {
  EXPECT_EQ(Tokens("\xEF\xBB\xBF{\"a\":1}\n{\"b\":[]}\n\n"), "{a:1 }{b:[]}");
}

TEST(Scanner, DecodesStrings) {
  EXPECT_EQ(Tokens(R"(["a\"b", "\u00e9\n", ""])"), "['a\"b''é\n''']");
}

TEST(Scanner, RefusesWhatIsNoJson) {
  EXPECT_EQ(Tokens("[1 2]"), "[1 !3");
  EXPECT_EQ(Tokens("[1,]"), "[1 !3");
  EXPECT_EQ(Tokens("{1:2}"), "{!1");
  EXPECT_EQ(Tokens("[01]"), "[!1");
  EXPECT_EQ(Tokens("[+1, 2]"), "[!1");
  EXPECT_EQ(Tokens("[nope]"), "[!1");
  EXPECT_EQ(Tokens("[1}"), "[1 !2");
  EXPECT_EQ(Tokens("]"), "!0");
  EXPECT_EQ(Tokens(R"(["\q"])"), "[!1");
}

TEST(Scanner, SaysThatTheTextIsCutAtEveryLength) {
  const std::string whole = R"({"a": [1.5, "x\"y", {"b": null}], "c": true})";
  for (size_t n = 1; n < whole.size(); ++n) {
    const std::string tokens = Tokens(std::string_view(whole).substr(0, n));
    EXPECT_TRUE(tokens.ends_with("cut")) << n << ": " << tokens;
  }
  EXPECT_EQ(Tokens("[1"), "[!2 cut");
}

TEST(Scanner, SkipsAnyValue) {
  Scanner scanner(R"([{"a": [1, {"b": 2}]}, "x", 3])");
  EXPECT_EQ(scanner.Next(), Token::kBeginArray);
  EXPECT_TRUE(scanner.SkipValue());
  EXPECT_TRUE(scanner.SkipValue());
  EXPECT_EQ(scanner.Next(), Token::kNumber);
  EXPECT_FALSE(scanner.SkipValue());
  EXPECT_EQ(scanner.depth(), 0U);
}

TEST(Scanner, RefusesDepthThatOnlyAHostileFileHas) {
  const std::string deep(100'000, '[');
  EXPECT_NE(Tokens(deep).find('!'), std::string::npos);
}

}  // namespace
}  // namespace layerscope::json

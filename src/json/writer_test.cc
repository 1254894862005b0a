#include "src/json/writer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "src/json/document.h"

namespace layerscope::json {
namespace {

std::string Quoted(std::string_view text) {
  std::string out;
  AppendQuoted(text, &out);
  return out;
}

template <typename Write>
std::string Written(Write write) {
  Writer writer;
  write(writer);
  return writer.Take();
}

TEST(Writer, PutsCommasAndColonsOnOneLine) {
  Writer w;
  w.BeginObject();
  w.Key("a");
  w.Int(1);
  w.Key("b");
  w.BeginArray();
  w.Bool(true);
  w.Null();
  w.BeginObject();
  w.EndObject();
  w.BeginArray();
  w.EndArray();
  w.String("x");
  w.EndArray();
  w.Key("c");
  w.Bool(false);
  w.EndObject();
  EXPECT_EQ(w.text(), R"({"a": 1, "b": [true, null, {}, [], "x"], "c": false})");
}

TEST(Writer, IndentsWhenAsked) {
  Writer w(2);
  w.BeginObject();
  w.Key("a");
  w.BeginArray();
  w.Int(1);
  w.Int(2);
  w.EndArray();
  w.Key("b");
  w.BeginObject();
  w.EndObject();
  w.EndObject();
  EXPECT_EQ(w.Take(), "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}");
}

TEST(Writer, IsAsNewAfterTake) {
  Writer w;
  w.Int(1);
  EXPECT_EQ(w.Take(), "1");
  w.BeginArray();
  w.EndArray();
  EXPECT_EQ(w.Take(), "[]");
}

TEST(Writer, EscapesWhatRfc8259Demands) {
  // By hand from RFC 8259 section 7.
  EXPECT_EQ(Quoted("a\"b\\c/\n\r\t\b\f"), R"("a\"b\\c/\n\r\t\b\f")");
  EXPECT_EQ(Quoted(std::string_view("\0\x01\x1f\x7f", 4)), "\"\\u0000\\u0001\\u001f\\u007f\"");
  EXPECT_EQ(Quoted("\xC2\x80 \xC2\x9F \xC2\xA0"), "\"\\u0080 \\u009f \xC2\xA0\"") << "C1";
  EXPECT_EQ(Quoted(""), "\"\"");
}

TEST(Writer, KeepsValidUtf8) {
  for (const std::string_view text :
       {"\u00e9", "\u4e2d\u6587", "\U0001F600", "\uFFFD", "a\u00e9b"}) {
    EXPECT_EQ(Quoted(text), "\"" + std::string(text) + "\"");
  }
}

TEST(Writer, ReplacesInvalidUtf8AsPythonDoes) {
  // Expected: Python's bytes.decode(errors="replace") of the same bytes, by hand.
  constexpr std::string_view kBad = "\xEF\xBF\xBD";
  const std::string r(kBad);
  const std::pair<std::string_view, std::string> cases[] = {
      {"\x80", r},                          // a continuation without a start
      {"a\xffz", "a" + r + "z"},            // never a UTF-8 byte
      {"\xc0\xaf", r + r},                  // overlong '/'
      {"\xe0\x80\xaf", r + r + r},          // overlong, three bytes
      {"\xed\xa0\x80", r + r + r},          // a surrogate
      {"\xf4\x90\x80\x80", r + r + r + r},  // beyond U+10FFFF
      {"\xe4\xb8", r},                      // cut inside a sequence
      {"\xf0\x9f\x98", r},
      {"\xe4\xb8"
       "a",
       r + "a"},
      {"\xe4\xb8\xe4\xb8\xad", r + "\xe4\xb8\xad"},
  };
  for (const auto& [bytes, text] : cases) EXPECT_EQ(Quoted(bytes), "\"" + text + "\"");
}

TEST(Writer, NumbersAreTheShortestThatReadBack) {
  // By hand: IEEE 754 doubles and their shortest decimal forms.
  const std::pair<double, std::string_view> cases[] = {
      {0, "0"},
      {-0.0, "-0"},
      {1, "1"},
      {0.1, "0.1"},
      {1.5, "1.5"},
      {-2.5, "-2.5"},
      {1e22, "1e+22"},
      {1e-7, "1e-07"},
      {5e-324, "5e-324"},
      {-2.2250738585072014e-308, "-2.2250738585072014e-308"},
      {1.7976931348623157e308, "1.7976931348623157e+308"}};
  for (const auto& [value, text] : cases) {
    EXPECT_EQ(Written([v = value](Writer& w) { w.Double(v); }), text);
  }
  EXPECT_EQ(Written([](Writer& w) { w.Int(std::numeric_limits<int64_t>::min()); }),
            "-9223372036854775808");
}

TEST(Writer, NanAndInfinitiesAreNull) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double value : {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(Written([value](Writer& w) { w.Double(value); }), "null");
  }
}

TEST(Writer, WhatItWritesIsRead) {
  std::string every_byte;
  for (int byte = 0; byte < 128; ++byte) every_byte.push_back(static_cast<char>(byte));
  Writer w(3);
  w.BeginObject();
  w.Key(every_byte);
  w.String(every_byte);
  w.EndObject();
  const base::Result<Node> node = ParseDocument(w.text());
  ASSERT_TRUE(node.ok()) << node.error().message;
  ASSERT_NE(node->Find(every_byte), nullptr);
  EXPECT_EQ(node->Find(every_byte)->AsString(), every_byte);
}

TEST(Writer, BreaksLinesWhereItIsTold) {
  Writer w;
  w.BeginObject();
  w.BreakLine();
  w.Key("a");
  w.BeginArray();
  for (int i = 0; i < 2; ++i) {
    w.BreakLine();
    w.BeginArray();
    w.Int(i);
    w.Null();
    w.EndArray();
  }
  w.EndArray();
  EXPECT_EQ(w.TakePiece(), "{\n\"a\": [\n[0, null],\n[1, null]\n]");
  w.Key("b");
  w.BeginObject();
  w.EndObject();
  w.EndObject();
  EXPECT_EQ(w.Take(), ", \"b\": {}\n}");
}

TEST(WriterDeathTest, WrongNestingIsABug) {
  EXPECT_DEATH(Written([](Writer& w) { w.Key("a"); }), "a key outside of an object");
  EXPECT_DEATH(Written([](Writer& w) {
                 w.BeginObject();
                 w.Int(1);
               }),
               "without a key");
  EXPECT_DEATH(Written([](Writer& w) {
                 w.BeginObject();
                 w.EndArray();
               }),
               "does not match");
  EXPECT_DEATH(Written([](Writer& w) { w.BeginObject(); }), "open object");
}

}  // namespace
}  // namespace layerscope::json

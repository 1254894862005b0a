#include "src/json/document.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace layerscope::json {
namespace {

using Kind = Node::Kind;

Node Parsed(std::string_view text) {
  base::Result<Node> node = ParseDocument(text);
  EXPECT_TRUE(node.ok()) << text << ": " << (node.ok() ? "" : node.error().message);
  return node.ok() ? std::move(node).value() : Node();
}

std::string ErrorOf(std::string_view text) {
  const base::Result<Node> node = ParseDocument(text);
  if (node.ok()) return "none";
  EXPECT_EQ(node.error().code, base::ErrorCode::kInvalidInput);
  EXPECT_NE(node.error().hint, "");
  return node.error().message;
}

// Written by hand after the config.json of a model and Python's json.dumps of odd floats.
constexpr std::string_view kConfig = R"({
  "architectures": ["Qwen3ForCausalLM"], "hidden_size": 4096, "tie": false,
  "rope_scaling": null, "rms_norm_eps": 1e-06, "loss": NaN, "max": Infinity,
  "min": [-Infinity, -1.5, -7], "quantization_config": {"bits": 8, "name": "f\u00fcnf \"8\" NaN"},
  "empty": {}, "none": []
})";

TEST(Document, ReadsAConfig) {
  const Node config = Parsed(kConfig);
  ASSERT_TRUE(config.IsObject());
  EXPECT_EQ(config.members().size(), size_t{11});
  EXPECT_EQ(config.members()[1].first, "hidden_size");
  EXPECT_EQ(config.Find("architectures")->items().at(0).AsString(), "Qwen3ForCausalLM");
  EXPECT_EQ(config.Find("hidden_size")->AsInt(), 4096);
  EXPECT_EQ(config.Find("tie")->AsBool(), false);
  EXPECT_EQ(config.Find("rope_scaling")->kind(), Kind::kNull);
  EXPECT_EQ(config.Find("rms_norm_eps")->AsDouble(), 1e-6);
  EXPECT_EQ(config.Find("quantization_config")->Find("bits")->AsInt(), 8);
  EXPECT_EQ(config.Find("quantization_config")->Find("name")->AsString(), "f\u00fcnf \"8\" NaN");
  EXPECT_TRUE(config.Find("empty")->IsObject());
  EXPECT_TRUE(config.Find("none")->IsArray());
  EXPECT_EQ(config.Find("absent"), nullptr);
  EXPECT_EQ(config.Find("hidden_size")->Find("x"), nullptr);
}

TEST(Document, ReadsThePythonNumbersThatJsonLacks) {
  const Node config = Parsed(kConfig);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(config.Find("loss")->AsDouble().value()));
  EXPECT_EQ(config.Find("max")->AsDouble(), kInfinity);
  EXPECT_EQ(config.Find("min")->items()[0].AsDouble(), -kInfinity);
  EXPECT_EQ(config.Find("loss")->AsInt(), std::nullopt);
  EXPECT_EQ(config.Find("max")->AsInt(), std::nullopt);
}

TEST(Document, ARootMayBeAnyValue) {
  EXPECT_EQ(Parsed(" 3 ").AsInt(), 3);
  EXPECT_EQ(Parsed("\"a\\nb\"").AsString(), "a\nb");
  EXPECT_EQ(Parsed("true").AsBool(), true);
  EXPECT_EQ(Parsed("null").kind(), Kind::kNull);
  EXPECT_TRUE(Parsed("\t[\r\n]").IsArray());
  EXPECT_TRUE(std::isnan(Parsed("NaN").AsDouble().value()));
}

TEST(Document, IntegersBeyondInt64BecomeDoubles) {
  EXPECT_EQ(Parsed("9223372036854775807").AsInt(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Parsed("-9223372036854775808").AsInt(), std::numeric_limits<int64_t>::min());
  const Node beyond = Parsed("9223372036854775808");
  EXPECT_EQ(beyond.kind(), Kind::kDouble);
  EXPECT_EQ(beyond.AsDouble(), 9223372036854775808.0);
  EXPECT_EQ(beyond.AsInt(), std::nullopt);
  EXPECT_EQ(Parsed("18446744073709551616").AsDouble(), 18446744073709551616.0);
  EXPECT_EQ(Parsed("1e999").AsDouble(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(Parsed("1e-999").AsDouble(), 0.0);
  EXPECT_EQ(Parsed("-0").AsInt(), 0);
}

TEST(Document, AsIntTakesIntegralDoublesAndNumericStrings) {
  EXPECT_EQ(Parsed("4096.0").AsInt(), 4096);
  EXPECT_EQ(Parsed("1e3").AsInt(), 1000);
  EXPECT_EQ(Parsed("0.5").AsInt(), std::nullopt);
  EXPECT_EQ(Parsed("\"128\"").AsInt(), 128);
  EXPECT_EQ(Parsed("\"1.5\"").AsDouble(), 1.5);
  for (const std::string_view text : {"\"\"", "\"12a\"", "\" 1\"", "\"nan\"", "\"0x10\"", "true"}) {
    EXPECT_EQ(Parsed(text).AsInt(), std::nullopt) << text;
    EXPECT_EQ(Parsed(text).AsDouble(), std::nullopt) << text;
  }
}

TEST(Document, TheLastOfDuplicateKeysWinsInThePlaceOfTheFirst) {
  const Node few = Parsed(R"({"a": 1, "b": 2, "a": 3, "\u0061": 4})");
  ASSERT_EQ(few.members().size(), size_t{2});
  EXPECT_EQ(few.members()[0].first, "a");
  EXPECT_EQ(few.members()[0].second.AsInt(), 4);
  EXPECT_EQ(few.members()[1].second.AsInt(), 2);

  std::string text = "{";
  for (int i = 0; i < 3000; ++i) {
    text += "\"key" + std::to_string(i % 1000) + "\": " + std::to_string(i) + ",";
  }
  text.back() = '}';
  const Node many = Parsed(text);
  ASSERT_EQ(many.members().size(), size_t{1000});
  for (size_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(many.members()[i].first, "key" + std::to_string(i));
    ASSERT_EQ(many.members()[i].second.AsInt(), static_cast<int64_t>(2000 + i));
  }
}

TEST(Document, NestsToTheLimitAndNoFurther) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + "1" + std::string(depth, ']');
  };
  EXPECT_TRUE(Parsed(nested(256)).IsArray());
  EXPECT_EQ(ErrorOf(nested(257)), "at byte 256: nested too deep");
  EXPECT_NE(ErrorOf(std::string(5'000'000, '[')), "none");
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_EQ(ErrorOf(objects), "at byte 1280: nested too deep");  // 256 times 5 bytes
}

TEST(Document, AByteOrderMarkIsToleratedAndCounted) {
  EXPECT_EQ(Parsed("\xEF\xBB\xBF{\"a\": 1}").Find("a")->AsInt(), 1);
  EXPECT_EQ(ErrorOf("\xEF\xBB\xBF[x]"), "at byte 4: a value was expected");
  EXPECT_EQ(ErrorOf("\xEF\xBB\xBF"), "at byte 3: the document is empty");
}

TEST(Document, EscapedSurrogatesWithoutTheirHalfAreReplaced) {
  const std::string_view expected = "a\uFFFD\n\uFFFD\U0001F600\u00e9\uFFFD/";
  const std::string_view escaped = R"(a\ud83d\n\ude00\ud83d\ude00\u00e9\ud83d\/)";
  const Node node =
      Parsed("{\"" + std::string(escaped) + "\": [\"" + std::string(escaped) + "\", 1]}");
  ASSERT_EQ(node.members().size(), size_t{1});
  EXPECT_EQ(node.members()[0].first, expected);
  EXPECT_EQ(node.members()[0].second.items().at(0).AsString(), expected);
  EXPECT_EQ(node.members()[0].second.items().at(1).AsInt(), 1);
  EXPECT_EQ(ErrorOf(R"(["\ud83d\x"])"), "at byte 1: a bad escape in this string");
  EXPECT_EQ(ErrorOf(R"(["\ud83d\u12"])"), "at byte 1: a bad escape in this string");
}

TEST(Document, ErrorsNameTheByte) {
  EXPECT_EQ(ErrorOf(""), "at byte 0: the document is empty");
  EXPECT_EQ(ErrorOf("[1, tru]"), "at byte 4: a value was expected");
  EXPECT_EQ(ErrorOf("{} {}"), "at byte 3: text after the document");
  EXPECT_EQ(ErrorOf("1, 2"), "at byte 3: text after the document");
  EXPECT_EQ(ErrorOf(R"({"a": "\q"})"), "at byte 6: a bad escape in this string");
  EXPECT_EQ(ErrorOf("[\"a\nb\"]"), "at byte 3: unescaped control character in a string");
  EXPECT_EQ(ErrorOf("[\"\xff\"]"), "at byte 2: invalid UTF-8");
  EXPECT_EQ(ErrorOf("[\"abc"), "at byte 5: the text ends inside a string");
  EXPECT_EQ(ErrorOf("[1 2]").substr(0, 10), "at byte 3:");
  EXPECT_EQ(ErrorOf(R"({"a" 1})").substr(0, 10), "at byte 5:");
}

TEST(Document, RefusesWhatIsNoJson) {
  // By hand from the grammar of RFC 8259.
  for (const std::string_view text : {"]",
                                      "}",
                                      "[",
                                      "{",
                                      ",",
                                      ":",
                                      "[,]",
                                      "[1,]",
                                      "[1,,2]",
                                      "[1}",
                                      "{]",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{\"a\":1,}",
                                      "{,}",
                                      "{1:2}",
                                      "{\"a\":1 \"b\":2}",
                                      "[1]]",
                                      "[1],[2]",
                                      "1],[2",
                                      "01",
                                      "-",
                                      "+1",
                                      "1.",
                                      ".5",
                                      "1e",
                                      "1e+",
                                      "0x1",
                                      "--1",
                                      "1 2",
                                      "True",
                                      "nan",
                                      "NAN",
                                      "-NaN",
                                      "Inf",
                                      "+Infinity",
                                      "infinity",
                                      "nul",
                                      "nulll",
                                      "'a'",
                                      "\"a",
                                      "a\"",
                                      "\"\\u12\"",
                                      "\"\\",
                                      "[\"a\" b]",
                                      "\"a\"b",
                                      "1\"a\"",
                                      "/**/1",
                                      "[1]//",
                                      "\f1",
                                      "{\"a\":1}}",
                                      "\\",
                                      "[\\]"}) {
    EXPECT_NE(ErrorOf(text), "none") << text;
  }
  EXPECT_NE(ErrorOf(std::string_view("1\0", 2)), "none");
  EXPECT_NE(ErrorOf(std::string_view("\0", 1)), "none");
}

TEST(Document, ACutDocumentSaysWhatItEndsInside) {
  EXPECT_EQ(ErrorOf("[1, 2"), "at byte 5: the document ends inside an array");
  EXPECT_EQ(ErrorOf(R"({"a": [1, {"b": 2)"), "at byte 17: the document ends inside an object");
  EXPECT_EQ(ErrorOf(R"({"a": [1], )"), "at byte 11: the document ends inside an object");
  // A mistake before the end is what there is to mend first.
  EXPECT_EQ(ErrorOf(R"({"a" 1, "b": [)").find("ends inside"), std::string::npos);
}

TEST(Document, CutAtEveryLengthIsAnErrorWithinTheText) {
  for (size_t length = 0; length < kConfig.size(); ++length) {
    // A copy of exactly that size, so that a read beyond it is caught by the sanitizer.
    const std::string cut(kConfig.substr(0, length));
    const std::string error = ErrorOf(cut);
    ASSERT_NE(error, "none") << length;
    ASSERT_LE(std::stoul(error.substr(std::string_view("at byte ").size())), length) << error;
  }
}

TEST(Document, ASpoiledByteAnywhereNeverCrashes) {
  for (size_t at = 0; at < kConfig.size(); ++at) {
    for (const char c : {'"', '\\', '[', ']', '{', '}', ',', ':', '\0', '\xff', '\n', '9', 'N'}) {
      std::string text(kConfig);
      text[at] = c;
      static_cast<void>(ParseDocument(text).ok());
    }
  }
}

}  // namespace
}  // namespace layerscope::json

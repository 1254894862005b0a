#include "src/ingest/kineto/strict_text.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "src/json/document.h"

namespace layerscope::ingest::kineto {
namespace {

TEST(MakeStrict, LeavesJsonAloneByteForByte) {
  for (const std::string& text : std::vector<std::string>{
           "{}", "{ }", R"({"a":1,"b":[],"c":{} })",
           R"({ "a" : [ -0.5e+3 , true,false, null ] ,"\u00e9\n\\\"\/": "x" })",
           "{\"ä\":[[1],[{\"b\":0}]],\"c\":NaN,\"d\":-Infinity}"}) {
    std::string out;
    EXPECT_FALSE(MakeStrict(text, out)) << text;
    EXPECT_EQ(out, text);
  }
}

TEST(MakeStrict, MendsWhatIsNoJson) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"a":"x\qy\u12z"})", R"({"a":"x\\qy\\u12z"})"},
      {R"({"a":nope,"b":01,"c":1.,"d":+1,"e":.5,"f":0x1})",
       R"({"a":"nope","b":"01","c":"1.","d":"+1","e":".5","f":"0x1"})"},
      {R"({"a":1,})", R"({"a":1 })"},
      {R"({"a":[1,,2,],"b":2})", R"({"a":[1,2 ],"b":2})"},
      {R"({"a" 1 "b":2})", R"({"a" :1 ,"b":2})"},
      {R"({"a":,"b"})", R"({"a":null,"b":null})"},
      {R"({a:1,[2]})", R"({"a":1,"":[2]})"},
      {R"({"a":[1}})", R"({"a":[1]})"},
      {R"({"a":{"b":[)", R"({"a":{"b":[]}})"},
      {R"({"a":"b)", R"({"a":"b"})"},
      {"{\"a\":\"b\nc\"}", R"({"a":"b\u000ac"})"},
      {R"({"a":"b\)", R"({"a":"b\\"})"},
  };
  for (const auto& [text, expected] : cases) {
    std::string out;
    EXPECT_TRUE(MakeStrict(text, out)) << text;
    EXPECT_EQ(out, expected) << text;
    EXPECT_TRUE(json::ParseDocument(out).ok()) << out;
  }
}

TEST(MakeStrict, NeedsNoStackForDeepNesting) {
  const std::string text = "{\"a\":" + std::string(1'000'000, '[');
  std::string out;
  EXPECT_TRUE(MakeStrict(text, out));
  EXPECT_EQ(out.size(), 2'000'000U + 6);
}

}  // namespace
}  // namespace layerscope::ingest::kineto

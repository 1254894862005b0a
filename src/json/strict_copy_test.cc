#include "src/json/strict_copy.h"

#include <gtest/gtest.h>

#include <string>

namespace layerscope::json {
namespace {

std::string Copy(std::string_view text) {
  const base::Result<std::string> copy = StrictCopy(text);
  return copy.ok() ? *copy : "error: " + copy.error().message;
}

TEST(StrictCopy, KeepsValuesAsTheyAreWritten) {
  EXPECT_EQ(
      Copy(" {\"b\":[1.50,-2e+9,12345678901234567890,true,false,null], \"a\" : \"x\\u00e4\"}\n"),
      "{\"b\": [1.50, -2e+9, 12345678901234567890, true, false, null], \"a\": \"x\u00e4\"}");
  EXPECT_EQ(Copy("\xEF\xBB\xBF[]"), "[]");
  EXPECT_EQ(Copy("7"), "7");
}

TEST(StrictCopy, MakesJsonOfWhatPythonWrites) {
  EXPECT_EQ(Copy("[NaN, Infinity, -Infinity, \"NaN\"]"), "[null, null, null, \"NaN\"]");
  EXPECT_EQ(Copy("[\"a\nb\xff\"]"), "[\"a\\nb\xEF\xBF\xBD\"]");
}

TEST(StrictCopy, RefusesWhatIsNotOneDocument) {
  EXPECT_EQ(Copy(""), "error: at byte 0: the text holds no JSON");
  EXPECT_EQ(Copy("{} {}"), "error: at byte 2: more text follows the document");
  EXPECT_EQ(Copy("[1,"), "error: at byte 3: the text ends inside an array");
  EXPECT_EQ(Copy("{\"a\": nul}"), "error: at byte 6: a value was expected");
  EXPECT_EQ(Copy(std::string(300, '[')), "error: at byte 256: nested too deeply");
}

}  // namespace
}  // namespace layerscope::json

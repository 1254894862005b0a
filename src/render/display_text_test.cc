#include "src/render/display_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace layerscope::render {
namespace {

using Lines = std::vector<std::string>;

TEST(DisplayTextTest, ControlCharactersBecomePictures) {
  EXPECT_EQ(VisibleText("a\x1b[31mred\x07\n\x7f"), "a␛[31mred␇␊␡");
  EXPECT_EQ(VisibleText(std::string_view("\0x", 2)), "␀x");
  EXPECT_EQ(VisibleText("plain name"), "plain name");
  EXPECT_EQ(VisibleText("größe 名前 ├─"), "größe 名前 ├─");
}

TEST(DisplayTextTest, HiddenAndReorderingCharactersBecomeReplacements) {
  EXPECT_EQ(VisibleText("a\u202e"
                        "b"),
            "a\ufffd"
            "b");  // right-to-left override
  EXPECT_EQ(VisibleText("a\u200b"
                        "b"),
            "a\ufffd"
            "b");  // zero-width space
  EXPECT_EQ(VisibleText("\xc2\x9b"
                        "31m"),
            "\ufffd31m");  // C1 control sequence introducer
  EXPECT_EQ(VisibleText("\x9b"
                        "31m"),
            "\ufffd31m");  // the same as a bare byte
}

TEST(DisplayTextTest, InvalidUtf8IsReplaced) {
  EXPECT_EQ(ValidUtf8("a\xff"
                      "b"),
            "a\ufffd"
            "b");
  EXPECT_EQ(ValidUtf8("cut \xe4\xb8"), "cut \ufffd");
  EXPECT_EQ(ValidUtf8("ok 中\x1b"), "ok 中\x1b");
}

TEST(DisplayTextTest, WidthCountsCells) {
  EXPECT_EQ(DisplayWidth(""), 0);
  EXPECT_EQ(DisplayWidth("abc"), 3);
  EXPECT_EQ(DisplayWidth("größe"), 5);
  EXPECT_EQ(DisplayWidth("名前"), 4);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1);  // e and a combining acute accent
  EXPECT_EQ(DisplayWidth("├─█▏…"), 5);
}

TEST(DisplayTextTest, MiddleIsElidedWithTheLongerPartAtTheEnd) {
  EXPECT_EQ(ElideMiddle("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(ElideMiddle("abcdefghij", 7), "abc…hij");
  EXPECT_EQ(ElideMiddle("abcdefghij", 6), "ab…hij");
  EXPECT_EQ(ElideMiddle("abcdefghij", 1), "…");
  EXPECT_EQ(ElideMiddle("abcdefghij", 0), "");
  EXPECT_EQ(ElideEnd("abcdefghij", 4), "abc…");
}

TEST(DisplayTextTest, ElisionNeverExceedsTheWidthInWideText) {
  const std::string text = "名前の長いカーネル";
  for (int width = 0; width < 20; ++width) {
    EXPECT_LE(DisplayWidth(ElideMiddle(text, width)), width);
    EXPECT_LE(DisplayWidth(ElideEnd(text, width)), width);
  }
}

TEST(DisplayTextTest, PaddingFillsCells) {
  EXPECT_EQ(PadLeft("名", 4), "  名");
  EXPECT_EQ(PadRight("ab", 4), "ab  ");
  EXPECT_EQ(PadRight("abcdef", 4), "abcdef");
}

TEST(DisplayTextTest, WrapsAtSpacesAndBreaksLongWords) {
  EXPECT_EQ(WrapText("one two three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(WrapText("abcdefghij k", 4), (Lines{"abcd", "efgh", "ij k"}));
  EXPECT_EQ(WrapText("x abcdefgh", 4), (Lines{"x", "abcd", "efgh"}));
  EXPECT_EQ(WrapText("one two three", 0), (Lines{"one two three"}));
  EXPECT_EQ(WrapText("one\ntwo\x1b", 0), (Lines{"one", "two␛"}));
  EXPECT_EQ(WrapText("", 5), (Lines{""}));
}

TEST(DisplayTextTest, WrappingEndsWhenOneCharacterIsWiderThanTheLine) {
  EXPECT_EQ(WrapText("名前", 1), (Lines{"名", "前", ""}));
}

}  // namespace
}  // namespace layerscope::render

#include "src/server/page.h"

#include <gtest/gtest.h>

#include <string>

namespace layerscope::server {
namespace {

TEST(WithNonce, MarksScriptsAndStylesAndNothingElse) {
  EXPECT_EQ(WithNonce("<head><style>a{}</style><SCRIPT type=\"module\">x</SCRIPT></head>", "N"),
            "<head><style nonce=\"N\">a{}</style><SCRIPT nonce=\"N\" "
            "type=\"module\">x</SCRIPT></head>");
}

TEST(WithNonce, LeavesTextOfScriptsAndCommentsAlone) {
  const std::string html =
      "<!-- <script>no</script> --><script>\"<script>\" + '<style>'</script><scripted><p>";
  EXPECT_EQ(WithNonce(html, "N"),
            "<!-- <script>no</script> --><script nonce=\"N\">\"<script>\" + "
            "'<style>'</script><scripted><p>");
}

TEST(WithNonce, ComesToAnEndOnHalfATag) {
  for (const char* html : {"", "<", "<!--", "<script", "<script>", "<style>a", "a<!--b"}) {
    EXPECT_GE(WithNonce(html, "N").size(), std::string(html).size()) << html;
  }
}

TEST(EscapedForScript, EndsNoScriptAndStartsNoComment) {
  EXPECT_EQ(EscapedForScript("[\"</script><!-- & \xe2\x80\xa8\xe2\x80\xa9 \xe2\x80\xaa\"]"),
            "[\"\\u003c/script\\u003e\\u003c!-- \\u0026 \\u2028\\u2029 \xe2\x80\xaa\"]");
}

TEST(WithData, StandsWhereThePageSays) {
  const std::string page = WithData("<head><!--layerscope-data--><script>x</script>", "{\"a\": 1}");
  EXPECT_EQ(page.find("<head><meta http-equiv=\"Content-Security-Policy\""), 0U);
  EXPECT_NE(page.find("<script type=\"application/json\" id=\"layerscope-data\">{\"a\": 1}</script>"
                      "<script>x</script>"),
            std::string::npos);
}

TEST(WithData, StandsBehindTheEncodingWithoutAMarker) {
  const std::string page = WithData("<head><meta charset=\"utf-8\" /><title>t</title>", "1");
  EXPECT_EQ(page.find("<head><meta charset=\"utf-8\" /><meta http-equiv"), 0U);
  EXPECT_NE(page.find("</script><title>"), std::string::npos);
}

}  // namespace
}  // namespace layerscope::server

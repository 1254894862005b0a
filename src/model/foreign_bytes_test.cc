#include "src/model/foreign_bytes.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace layerscope::model {
namespace {

using std::string_view_literals::operator""sv;

std::string MessageFor(std::string_view bytes) {
  const base::Status status = RefuseForeignBytes(bytes, "a model tree", "give one");
  if (status.ok()) return {};
  EXPECT_EQ(status.error().code, base::ErrorCode::kInvalidInput);
  EXPECT_EQ(status.error().hint, "give one");
  return status.error().message;
}

TEST(ForeignBytes, AreNamed) {
  EXPECT_EQ(MessageFor(" \n<!DOCTYPE html><html>"),
            "this is an HTML or XML page, not a model tree");
  EXPECT_EQ(MessageFor("SQLite format 3\0\x10"sv), "this is an SQLite database, not a model tree");
  EXPECT_EQ(MessageFor("\x1f\x8b\x08"), "this is gzip data that is packed twice, not a model tree");
  EXPECT_EQ(MessageFor("version https://git-lfs.github.com/spec/v1\noid sha256:0"),
            "this is a pointer of Git LFS (git lfs pull fetches the file), not a model tree");
  EXPECT_EQ(MessageFor("ab\0cd"sv), "this is a binary file of unknown kind, not a model tree");
}

TEST(ForeignBytes, PicklesAreNeverRead) {
  for (const std::string_view pickle : {"\x80\x05\x95"sv, "(dp0\n"sv, "}q\x00"sv}) {
    EXPECT_EQ(MessageFor(pickle),
              "this is a Python pickle; reading one can run any code, so it is never read");
  }
  EXPECT_EQ(MessageFor("PK\x03\x04"),
            "this is an archive of torch.save; reading one can run any code, so it is never read");
}

TEST(ForeignBytes, TextsPass) {
  for (const std::string_view text :
       {""sv, "{}"sv, "\xEF\xBB\xBF{\"a\": 1}"sv, "[1]"sv, "name,value"sv}) {
    EXPECT_EQ(MessageFor(text), "") << text;
  }
}

}  // namespace
}  // namespace layerscope::model

#include "src/ingest/kineto/document_head.h"

#include <gtest/gtest.h>

#include <string>

namespace layerscope::ingest::kineto {
namespace {

using State = DocumentHead::State;

DocumentHead Fed(std::string_view text, size_t piece) {
  DocumentHead head;
  for (size_t at = 0; at < text.size() && head.state() == State::kScanning; at += piece) {
    head.Feed(text.substr(at, piece));
  }
  return head;
}

TEST(DocumentHead, FindsTheListBehindItsKeyForEveryPieceSize) {
  const std::string text =
      "\xEF\xBB\xBF {\"schemaVersion\": 1, \"x\": {\"traceEvents\": [\"]\\\"\"]},\n"
      " \"traceEvents\" : [ {\"ph\":\"X\"}";
  for (size_t piece = 1; piece <= text.size(); ++piece) {
    const DocumentHead head = Fed(text, piece);
    ASSERT_EQ(head.state(), State::kEvents) << piece;
    EXPECT_FALSE(head.is_array());
    EXPECT_EQ(head.consumed(), static_cast<int64_t>(text.rfind('[')) + 1);
    EXPECT_EQ(head.members(), "\"schemaVersion\": 1, \"x\": {\"traceEvents\": [\"]\\\"\"]},\n ");
    EXPECT_EQ(head.keys(), (std::vector<std::string>{"schemaVersion", "x"}));
  }
}

TEST(DocumentHead, TakesABareList) {
  const DocumentHead head = Fed(" [ {}", 1);
  EXPECT_EQ(head.state(), State::kEvents);
  EXPECT_TRUE(head.is_array());
  EXPECT_EQ(head.consumed(), 2);
}

TEST(DocumentHead, TellsAnObjectWithoutEvents) {
  EXPECT_EQ(Fed(R"({"a": 1})", 3).state(), State::kNoEvents);
  EXPECT_EQ(Fed(R"({"traceEvents": 7})", 3).state(), State::kNoEvents);
  EXPECT_EQ(Fed(R"({"a": {"b": 1)", 3).state(), State::kScanning);
  EXPECT_EQ(Fed("<html>", 3).state(), State::kNotAnObject);
}

TEST(DocumentHead, StopsAtAKeyThatSettlesTheKind) {
  const DocumentHead head = Fed(R"({"rocprofiler-sdk-tool": [{"a")", 7);
  EXPECT_EQ(head.state(), State::kForeign);
  EXPECT_EQ(head.keys().back(), "rocprofiler-sdk-tool");
}

}  // namespace
}  // namespace layerscope::ingest::kineto

#include "src/ingest/kineto/event_splitter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace layerscope::ingest::kineto {
namespace {

using Kind = EventSplitter::Kind;

/// The elements of `text`, fed in pieces of `piece` bytes; ends with "]" + rest at the list's end.
std::vector<std::string> Split(std::string_view text, size_t piece) {
  EventSplitter splitter;
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size(); at += piece) {
    splitter.Append(text.substr(at, piece), static_cast<int64_t>(at));
    for (Kind kind = splitter.Next(); kind != Kind::kNeedMore; kind = splitter.Next()) {
      if (kind == Kind::kArrayEnd) return out.push_back("]"), out;
      EXPECT_EQ(text.substr(static_cast<size_t>(splitter.offset()), splitter.text().size()),
                splitter.text());
      out.emplace_back(splitter.text());
    }
  }
  if (!splitter.unfinished().empty()) out.push_back("..." + std::string(splitter.unfinished()));
  return out;
}

TEST(EventSplitter, GivesTheSameElementsForEveryPieceSize) {
  const std::string text = R"({"a":"}]\"\\"} , {"b":[{}]},null, 12,"s,",[1,{}] ] , "tail")";
  const std::vector<std::string> expected = {R"({"a":"}]\"\\"})", R"({"b":[{}]})", "null", "12",
                                             R"("s,")",           "[1,{}]",        "]"};
  for (size_t piece = 1; piece <= text.size(); ++piece) {
    EXPECT_EQ(Split(text, piece), expected) << "pieces of " << piece;
  }
}

TEST(EventSplitter, KeepsAnUnfinishedObject) {
  EXPECT_EQ(Split(R"({"a":1},{"b":)", 4), (std::vector<std::string>{R"({"a":1})", R"(...{"b":)"}));
}

TEST(EventSplitter, AcceptsAMissingComma) {
  EXPECT_EQ(Split(R"({"a":1} {"b":2}])", 5),
            (std::vector<std::string>{R"({"a":1})", R"({"b":2})", "]"}));
}

TEST(EventSplitter, GoesOnInsideARejectedObjectThatSwallowedOthers) {
  // The quote behind "x" is missing: brackets balance only behind the third event, whose name lacks
  // one too.
  const std::string text = R"({"name":"x},{"name":"y"},{"name":z"})";
  EventSplitter splitter;
  splitter.Append(text, 100);
  ASSERT_EQ(splitter.Next(), Kind::kObject);
  splitter.RejectObject();
  EXPECT_EQ(splitter.text(), R"({"name":"x},)");
  ASSERT_EQ(splitter.Next(), Kind::kObject);
  EXPECT_EQ(splitter.text(), R"({"name":"y"})");
  EXPECT_EQ(splitter.offset(), 112);
  EXPECT_EQ(splitter.Next(), Kind::kNeedMore);
  EXPECT_EQ(splitter.unfinished(), R"({"name":z"})");
}

TEST(EventSplitter, AtTheEndTellsAMissingQuoteFromACut) {
  EventSplitter missing;
  missing.Append(R"({"name":"x},{"name":"y"})", 0);
  ASSERT_EQ(missing.Next(), Kind::kNeedMore);
  ASSERT_EQ(missing.NextAtEnd(), Kind::kBroken);
  EXPECT_EQ(missing.text(), R"({"name":"x},)");
  ASSERT_EQ(missing.NextAtEnd(), Kind::kObject);
  EXPECT_EQ(missing.text(), R"({"name":"y"})");
  EventSplitter cut;
  cut.Append(R"({"name":"x","args":{"list":[{"name":"y"},{"name":"z"}]})", 0);
  EXPECT_EQ(cut.NextAtEnd(), Kind::kNeedMore);
}

TEST(EventSplitter, DoesNotWaitForEverForAnObjectThatSwallowsEvents) {
  EventSplitter splitter;
  splitter.Append(R"({"name":[1, )", 0);
  ASSERT_EQ(splitter.Next(), Kind::kNeedMore);
  const std::string event = R"({"ph":"X","name":"good"},)";
  int64_t offset = 12;
  Kind kind = Kind::kNeedMore;
  for (size_t i = 0; kind == Kind::kNeedMore && i < 1'000'000; ++i) {
    splitter.Append(event, offset);
    offset += static_cast<int64_t>(event.size());
    kind = splitter.Next();
  }
  EXPECT_EQ(kind, Kind::kBroken);
  ASSERT_EQ(splitter.Next(), Kind::kObject);
  EXPECT_EQ(splitter.text(), R"({"ph":"X","name":"good"})");
}

/// How many elements the splitter gives until the list or the text ends, every object being
/// rejected.
size_t CountWhenAllAreRejected(const std::string& text) {
  EventSplitter splitter;
  splitter.Append(text, 0);
  size_t n = 0;
  for (;;) {
    const Kind kind = splitter.NextAtEnd();
    if (kind == Kind::kNeedMore || kind == Kind::kArrayEnd) break;
    if (kind == Kind::kObject) splitter.RejectObject();
    ++n;
  }
  return n;
}

// Each of these begins tens of thousands of objects; scanning to the end again from every one of
// them would be quadratic.
TEST(EventSplitter, GivesUpFasterWhereObjectAfterObjectIsBroken) {
  std::string open;
  std::string nested;
  for (int i = 0; i < 50'000; ++i) {
    open += R"({"ph":"X","ts":1,"pid":1,"args":[{},)";
    nested += R"({"ph" 1,"args":[{},)";
  }
  for (int i = 0; i < 50'000; ++i) nested += "]}";
  EXPECT_LT(CountWhenAllAreRejected(open), 100U);
  EXPECT_LT(CountWhenAllAreRejected(nested), 100U);
}

TEST(EventSplitter, DropsAnObjectAboveTheLimit) {
  EventSplitter splitter;
  splitter.Append(R"({"a":")", 0);
  const std::string filler(size_t{4} << 20, 'x');
  int64_t offset = 6;
  for (int i = 0; i < 17; ++i) {
    splitter.Append(filler, offset);
    offset += static_cast<int64_t>(filler.size());
  }
  EXPECT_EQ(splitter.Next(), Kind::kTooLarge);
}

}  // namespace
}  // namespace layerscope::ingest::kineto

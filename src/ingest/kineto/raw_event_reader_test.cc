#include "src/ingest/kineto/raw_event_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/ingest/kineto/reader.h"

#include "tests/support/text_source.h"

namespace layerscope::ingest::kineto {
namespace {

using tests::TextSource;

struct Walk {
  std::vector<std::string> texts;
  std::vector<std::pair<RowKind, size_t>> rows;
  std::string before, after;
};

Walk WalkText(const std::string& text, size_t piece = 1 << 20) {
  TextSource source(text, piece);
  RawEventReader reader(source);
  Walk walk;
  EXPECT_TRUE(reader.ReadHead().ok());
  RawEvent event;
  for (;;) {
    base::Result<bool> more = reader.Next(event);
    EXPECT_TRUE(more.ok());
    if (!more.ok() || !*more) break;
    walk.texts.emplace_back(event.text);
    walk.rows.emplace_back(event.kind, event.row);
  }
  walk.before = reader.MembersBefore();
  walk.after = reader.MembersAfter();
  return walk;
}

int64_t CountOf(const std::string& text) {
  TextSource source(text, 1 << 20);
  ReadOptions options;
  options.threads = 1;
  options.counts_only = true;
  const base::Result<trace::Trace> trace = ReadTrace(source, options);
  if (!trace.ok()) return -1;
  EXPECT_EQ(trace->activities.size(), 0U);
  return trace->counts.n_events;
}

const std::string kKernel =
    R"({"ph":"X","cat":"kernel","name":"k","ts":1,"dur":2,"pid":0,"tid":7})";
const std::string kOp = R"({ "name" : "a\n]}", "ph":"X","cat":"cpu_op","ts":1,"pid":1,"tid":1 })";
const std::string kControl =
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\tb\x01\",\"ts\":3,\"dur\":1,"
    "\"pid\":0,\"tid\":7}";
const std::string kControlMended =
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\\u0009b\\u0001\",\"ts\":3,\"dur\":1,"
    "\"pid\":0,\"tid\":7}";
const std::string kFlow = R"({"ph":"s","id":9,"pid":1,"tid":1,"ts":1,"cat":"ac2g","name":"ac2g"})";

TEST(RawEventReader, GivesEveryEventAsItStandsWithItsRow) {
  const std::string text = "{\"a\": 1,\n\"traceEvents\": [\n" + kKernel + " ,\n\n" + kFlow + "," +
                           kOp + "," + kControl + "\n],\n \"z\": {\"b\": [2]}\n}\n";
  const Walk walk = WalkText(text);
  EXPECT_EQ(walk.texts, (std::vector<std::string>{kKernel, kFlow, kOp, kControlMended}));
  EXPECT_EQ(walk.rows, (std::vector<std::pair<RowKind, size_t>>{{RowKind::kActivity, 0},
                                                                {RowKind::kNone, 0},
                                                                {RowKind::kOp, 0},
                                                                {RowKind::kActivity, 1}}));
  EXPECT_EQ(walk.before, "\"a\": 1");
  EXPECT_EQ(walk.after, "\"z\": {\"b\": [2]}");
  EXPECT_EQ(CountOf(text), 4);
}

TEST(RawEventReader, PiecesOfAnySizeGiveTheSame) {
  const std::string text = "[" + kKernel + "," + kOp + "," + kControl + ",";
  const Walk whole = WalkText(text);
  EXPECT_EQ(whole.texts.size(), 3U);
  for (size_t piece = 1; piece < 40; ++piece) EXPECT_EQ(WalkText(text, piece).texts, whole.texts);
}

TEST(RawEventReader, ACutDocumentGivesAsManyEventsAsReadTraceCounts) {
  const std::string text = "{\"traceEvents\": [" + kKernel + "," + kOp + ", 17, " + kControl + "," +
                           kFlow + "], \"z\": 1}";
  for (size_t n = text.find('[') + 1; n <= text.size(); ++n) {
    const std::string cut = text.substr(0, n);
    const int64_t expected = std::max<int64_t>(CountOf(cut), 0);
    EXPECT_EQ(static_cast<int64_t>(WalkText(cut).texts.size()), expected) << n;
  }
}

TEST(RawEventReader, MembersThatAreNoJsonAreLeftOut) {
  EXPECT_EQ(WalkText("{\"a\": nope, \"traceEvents\": []}").before, "");
  EXPECT_EQ(WalkText("{\"traceEvents\": [], \"z\": 1").after, "");
  EXPECT_EQ(WalkText("{\"traceEvents\": [], \"traceEvents\": []}").after, "");
  EXPECT_EQ(WalkText("{\"x\": NaN, \"traceEvents\": []}").before, "\"x\": NaN");
}

}  // namespace
}  // namespace layerscope::ingest::kineto

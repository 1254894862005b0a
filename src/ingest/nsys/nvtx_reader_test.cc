// What NVTX ranges become: scopes, operators, annotations.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/ingest/nsys/test_database.h"

namespace layerscope::ingest::nsys {
namespace {

using trace::LedgerCode;
using Strings = std::vector<std::string>;

class NvtxReader : public testing::Test {
 protected:
  NvtxReader() { database_.MakeTables(); }
  /// `values` are (start, end, eventType, text, textId, domainId) of ranges of one thread.
  void AddRange(const std::string& values) {
    database_.Insert("NVTX_EVENTS", "globalTid, start, end, eventType, text, textId, domainId",
                     fmt::format("({}, {})", GlobalTid(10, 11), values));
  }
  trace::Trace Read() {
    auto trace = database_.Read();
    EXPECT_TRUE(trace.ok()) << trace.error().message;
    return *std::move(trace);
  }
  TestDatabase database_;
};

TEST_F(NvtxReader, TextOrRegisteredTextDecideWhatARangeIs) {
  database_.String(1, "Module:model.layers.1")
      .String(2, "aten::mm, seq = 3, op_id = 4")
      .String(3, "nccl");
  AddRange("100, 200, 59, 'Module:model.layers.0', NULL, 0");
  AddRange("110, 190, 59, NULL, 1, 0");
  AddRange("120, 180, 59, 'aten::add, op_id = 9, sizes = [[2, 8], [8]]', NULL, 0");
  AddRange("130, 170, 59, NULL, 2, 0");
  AddRange("140, 160, 60, 'forward', NULL, NULL");
  AddRange("150, 155, 59, NULL, 3, 1");
  AddRange("151, 154, 70, '', NULL, 2");
  const trace::Trace trace = Read();
  EXPECT_EQ(Names(trace, trace.scopes.name), (Strings{"model.layers.0", "model.layers.1"}));
  EXPECT_EQ(trace.scopes.is_path, (std::vector<uint8_t>{1, 1}));
  EXPECT_EQ(trace.scopes.start_ns, (std::vector<int64_t>{0, 10}));
  EXPECT_EQ(trace.scopes.dur_ns, (std::vector<int64_t>{100, 80}));
  EXPECT_EQ(Names(trace, trace.ops.name), (Strings{"aten::add", "aten::mm"}));
  EXPECT_EQ(trace.strings[trace.args[trace.ops.args[0].index()].input_dims], "[[2,8],[8]]");
  EXPECT_EQ(Names(trace, trace.annotations.name), (Strings{"forward", "nccl", ""}));
  EXPECT_TRUE(trace.annotations.IsPlainRange(0));
  EXPECT_FALSE(trace.annotations.IsPlainRange(1)) << "it stands in a domain of its own";
  EXPECT_FALSE(trace.annotations.IsPlainRange(2));
  EXPECT_FALSE(trace.strings.Find("aten::mm, seq = 3, op_id = 4").valid())
      << "texts that are unique to a call are not kept";
}

TEST_F(NvtxReader, MarksAndNamingAreCountedOnly) {
  AddRange("100, NULL, 34, 'Module:x', NULL, 0");
  AddRange("100, NULL, 33, 'category', NULL, 0");
  AddRange("100, NULL, 75, 'NCCL', NULL, 1");
  AddRange("100, NULL, 39, 'thread', NULL, 0");
  const trace::Trace trace = Read();
  EXPECT_EQ(trace.scopes.size() + trace.ops.size() + trace.annotations.size(), 0U);
  EXPECT_EQ(trace.counts.by_cat.at("NVTX_EVENTS"), 4);
  EXPECT_EQ(trace.ledger.count(LedgerCode::no_nvtx), 1);
}

TEST_F(NvtxReader, TheSecondMarkerOfAModuleIsNoCall) {
  AddRange("100, 200, 59, '{''Module'': ''a'', ''Inputs'': [[2, 4]]}', NULL, 0");
  AddRange("200, 200, 59, '{''Module'': ''a'', ''Outputs'': [[2, 4]]}', NULL, 0");
  const trace::Trace trace = Read();
  EXPECT_EQ(Names(trace, trace.scopes.name), Strings{"a"});
  EXPECT_EQ(trace.annotations.size(), 0U);
  EXPECT_EQ(trace.counts.n_events, 2);
}

TEST_F(NvtxReader, RangesThatWereNeverClosedEndWithTheCapture) {
  AddRange("100, NULL, 59, 'Module:a', NULL, 0");
  AddRange("150, 400, 59, 'Module:b', NULL, 0");
  const trace::Trace trace = Read();
  EXPECT_EQ(trace.scopes.dur_ns, (std::vector<int64_t>{300, 250}));
  EXPECT_EQ(trace.ledger.count(LedgerCode::open_range), 1);
}

TEST_F(NvtxReader, ARegisteredTextThatIsMissingIsSaid) {
  AddRange("100, 200, 59, NULL, 77, 0");
  const trace::Trace trace = Read();
  EXPECT_EQ(Names(trace, trace.annotations.name), Strings{"[unknown]"});
  EXPECT_FALSE(trace.annotations.IsPlainRange(0)) << "it may name anything, so no module";
  EXPECT_EQ(trace.ledger.count(LedgerCode::unknown_name), 1);
}

TEST_F(NvtxReader, AMillionOpenRangesInsideEachOtherAreRead) {
  database_.Run(
      "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999999) "
      "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) "
      "SELECT i, 3000000 - i, 59, 'Module:m.' || (i % 50), 7 FROM n");
  EXPECT_EQ(Read().scopes.size(), 1'000'000U);
}

}  // namespace
}  // namespace layerscope::ingest::nsys

#include "src/render/csv.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/sample_result.h"

namespace layerscope::render {
namespace {

std::string Csv(const table::Result& result, std::string_view table_name = "") {
  const base::Result<std::string> csv = RenderCsv(result, table_name);
  return csv.ok() ? *csv : "error: " + csv.error().message;
}

TEST(CsvTest, MainTableWithMapsAsColumns) {
  EXPECT_EQ(Csv(SampleResult()),
            "key,sum_ns,tokens,evidence.launch_correlation,evidence.unresolved\n"
            "gemm_bf16,1500000,,1500000,0\n"
            "\"copy<a, \"\"b\"\"|\x1b[31m>\",400000,1234,0,400000\n");
}

TEST(CsvTest, ATerminalIsSentNoControlCharacters) {
  table::Result result = SampleResult();
  table::Table table;
  AddStrings(table, {.name = "name"},
             {"a\x1b[31m\x7f", "b\n\"c\"",
              "\xC2\x9B"
              "d"});
  result.ranks.front().data = {{"rows", table}};
  const base::Result<std::string> data = RenderCsv(result, "rows");
  ASSERT_TRUE(data.ok());
  EXPECT_EQ(*data,
            "name\na\x1b[31m\x7f\n\"b\n\"\"c\"\"\"\n\xC2\x9B"
            "d\n");
  const base::Result<std::string> shown = RenderCsv(result, "rows", true);
  ASSERT_TRUE(shown.ok());
  EXPECT_EQ(*shown,
            "name\na␛[31m␡\n\"b␊\"\"c\"\"\"\n\uFFFD"
            "d\n");
}

TEST(CsvTest, ItemsOfAListMayHoldSpaces) {
  table::Result result = SampleResult();
  table::Table table;
  AddInts(table, {.name = "n"}, {1});
  table.columns.push_back({{.name = "ops"}, [](size_t /*row*/) {
                             return table::Cell(table::CellList{"a b", "c"});
                           }});
  result.ranks.front().data = {{"rows", table}};
  EXPECT_EQ(Csv(result, "rows"), "n,ops\n1,a b;c\n");
}

TEST(CsvTest, SeveralRanksHaveAFirstColumn) {
  table::Result result = SampleRanks();
  for (table::RankResult& rank : result.ranks) {
    table::Table table;
    AddInts(table, {.name = "n"}, {1, 2});
    rank.data = {{"rows", table}};
  }
  EXPECT_EQ(Csv(result), "rank,n\n0,1\n0,2\nb.json,1\nb.json,2\n");
}

TEST(CsvTest, RanksMayDifferInTheirColumns) {
  table::Result result = SampleRanks();
  result.ranks[1].rank = 1;
  result.ranks[0].data = {{"rows", table::Array{table::Object{{"a", 1}}}}};
  result.ranks[1].data = {{"rows", table::Array{table::Object{{"b", 2}}}}};
  EXPECT_EQ(Csv(result), "rank,a,b\n0,1,\n1,,2\n");
}

TEST(CsvTest, TheReducedTableGoesBeforeThoseOfTheRanks) {
  table::Result result = SampleRanks();
  result.reduced = table::Object{{"rows", table::Array{table::Object{{"n", 7}}}}};
  EXPECT_EQ(Csv(result), "n\n7\n");
  EXPECT_EQ(Csv(result, "reduced"), "n\n7\n");
  result.reduced = table::Object{{"all_ranks", table::Array{table::Object{{"n", 7}}}}};
  EXPECT_EQ(Csv(result).substr(0, 9), "rank,key,");
  EXPECT_EQ(Csv(result, "reduced"), "n\n7\n");
  EXPECT_EQ(Csv(result, "All ranks"), "n\n7\n");
}

TEST(CsvTest, RowsThatSayTheirRankAreLeftAlone) {
  table::Result result = SampleRanks();
  for (table::RankResult& rank : result.ranks) {
    rank.data = {{"rows", table::Array{table::Object{{"step", 3}, {"rank", 7}}}}};
  }
  EXPECT_EQ(Csv(result), "step,rank\n3,7\n3,7\n");
}

table::Result Info() {
  table::Result result = SampleResult();
  table::RankResult& rank = result.ranks[0];
  rank.main_table.clear();
  rank.data = {
      {"format", "kineto"},
      {"launches", table::Object{{"n", 10}, {"graph", 0}}},
      {"devices",
       table::Array{
           table::Object{{"device", 0},
                         {"name", table::Value()},
                         {"streams", table::Array{table::Object{{"stream", 7}, {"n", 5}},
                                                  table::Object{{"stream", 9}, {"n", 6}}}}},
           table::Object{{"device", 1},
                         {"name", "H100"},
                         {"streams", table::Array{table::Object{{"stream", 7}, {"n", 8}}}}}}},
      {"ranks", table::Object{{"present", table::Array{0, 2}}, {"world_size", table::Value()}}}};
  return result;
}

TEST(CsvTest, VerbsWithoutAMainTablePrintTheirScalars) {
  EXPECT_EQ(Csv(Info()),
            "key,value\n"
            "format,kineto\n"
            "launches.n,10\n"
            "launches.graph,0\n"
            "ranks.present,0;2\n"
            "ranks.world_size,\n");
}

TEST(CsvTest, TablesAreFoundByTheirKeyOrPath) {
  EXPECT_EQ(Csv(Info(), "devices"), "device,name\n0,\n1,H100\n");
  const std::string streams = "device,stream,n\n0,7,5\n0,9,6\n1,7,8\n";
  EXPECT_EQ(Csv(Info(), "devices.streams"), streams);
  EXPECT_EQ(Csv(Info(), "streams"), streams);
}

TEST(CsvTest, UnknownTableNamesTheOthers) {
  const base::Result<std::string> csv = RenderCsv(Info(), "device");
  ASSERT_FALSE(csv.ok());
  EXPECT_EQ(csv.error().code, base::ErrorCode::kUsage);
  EXPECT_EQ(csv.error().message, "no table 'device'; did you mean 'devices'?");
  EXPECT_EQ(csv.error().hint, "tables: devices, devices.streams, facts");
}

TEST(CsvTest, FieldsAreQuotedOnlyWhereTheyMust) {
  table::Result result = SampleResult();
  table::Table table;
  AddStrings(table, {.name = "text"},
             {"plain", "a,b", "say \"hi\"", "two\nlines", " spaces ", "bad\xff"});
  result.ranks[0].data = {{"rows", table}};
  EXPECT_EQ(Csv(result),
            "text\nplain\n\"a,b\"\n\"say \"\"hi\"\"\"\n\"two\nlines\"\n spaces \nbad\ufffd\n");
}

TEST(CsvTest, ScalarsKeepTheirJsonText) {
  table::Result result = SampleResult();
  table::Table table;
  table.n_rows = 1;
  table.columns.push_back({{.name = "complete"}, [](size_t) { return table::Cell(true); }});
  table.columns.push_back({{.name = "ratio"}, [](size_t) { return table::Cell(0.1); }});
  table.columns.push_back({{.name = "flags"}, [](size_t) {
                             return table::Cell(table::CellList{"a", "b"});
                           }});
  result.ranks[0].data = {{"rows", table}};
  EXPECT_EQ(Csv(result), "complete,ratio,flags\ntrue,0.1,a;b\n");
}

TEST(CsvTest, AnAbstainedVerbHasNoRows) {
  table::Result result = SampleResult();
  result.ranks[0].data.clear();
  EXPECT_EQ(Csv(result), "");
}

}  // namespace
}  // namespace layerscope::render

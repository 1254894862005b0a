#pragma once

#include <string>
#include <string_view>

#include "src/table/result.h"

namespace layerscope::render {

/// Two kernels, as the tests of all formats show them: one with an unknown value, one with a name
/// that has a comma, quotes, a pipe and an escape character.
inline table::Table SampleTable() {
  using table::Cell;
  table::Table table;
  AddStrings(table, {.name = "key", .title = "kernel", .role = table::Role::kName},
             {"gemm_bf16", "copy<a, \"b\"|\x1b[31m>"});
  AddInts(table,
          {.name = "sum_ns",
           .title = "sum",
           .unit = table::Unit::kNanoseconds,
           .role = table::Role::kShare,
           .share_of = 2'000'000},
          {1'500'000, 400'000});
  table.columns.push_back({{.name = "tokens", .unit = table::Unit::kCount}, [](size_t row) {
                             return row == 0 ? Cell(table::Null{}) : Cell(int64_t{1234});
                           }});
  table.columns.push_back({{.name = "evidence",
                            .unit = table::Unit::kNanoseconds,
                            .audience = table::Audience::kMachines},
                           [](size_t row) {
                             return row == 0
                                        ? Cell(table::CellMap{{"launch_correlation", 1'500'000}})
                                        : Cell(table::CellMap{{"unresolved", 400'000}});
                           }});
  table.columns.push_back({{.name = "mark", .audience = table::Audience::kPeople}, [](size_t row) {
                             return Cell(row == 0 ? std::string_view("hot") : std::string_view());
                           }});
  return table;
}

inline table::RankResult SampleRank() {
  table::RankResult rank;
  rank.rank = 0;
  rank.input = "rank0.json.gz";
  rank.coverage = {1'900'000,
                   {{"launch_correlation", 1'500'000}, {"unresolved", 400'000}},
                   {{"unresolved", 1'900'000}}};
  rank.data = {{"rows", SampleTable()}, {"total", table::Object{{"n", 2}, {"sum_ns", 1'900'000}}}};
  rank.main_table = "rows";
  table::Block block;
  block.kind = table::Block::Kind::kTable;
  block.title = "kernels";
  block.table = SampleTable();
  rank.blocks.push_back(block);
  return rank;
}

/// `kernels` over one file.
inline table::Result SampleResult() {
  table::Result result;
  result.command = "kernels";
  // Beyond 2^53: a reader that goes through double would round it.
  result.inputs = {{"rank0.json.gz", "kineto", 0, 9'007'199'254'740'993, 2'000'000}};
  result.options = {{"by", "name"}};
  result.ranks.push_back(SampleRank());
  return result;
}

/// The same over two files, the second without a known rank.
inline table::Result SampleRanks() {
  table::Result result = SampleResult();
  table::RankResult second = SampleRank();
  second.rank.reset();
  second.input = "b.json";
  result.inputs.push_back({"b.json", "kineto", {}, 5, 7});
  result.ranks.push_back(second);
  return result;
}

}  // namespace layerscope::render

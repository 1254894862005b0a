#include "src/server/report_plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "src/server/one_file_report.h"

namespace layerscope::server {
namespace {

std::string Passes(const std::string& rows) {
  return R"({"data": {"passes": [)" + rows + "]}}";
}

std::vector<int64_t> Indices(const std::vector<ComparedInterval>& intervals) {
  std::vector<int64_t> indices;
  for (const ComparedInterval& interval : intervals) indices.push_back(interval.index);
  return indices;
}

// By hand: eleven whole decode passes of wall 100, 99, … 90; sorted, 10 % is the second, 50 % the
// sixth, 90 % the tenth.
TEST(ComparedIntervals, TakesTheTenthHalfAndNineTenthsOfTheCommonestKind) {
  std::string rows = R"({"index": 0, "kind": "prefill", "wall_ns": 1, "complete": true})";
  for (int i = 0; i < 11; ++i) {
    rows += fmt::format(R"(, {{"index": {}, "kind": "decode", "wall_ns": {}, "complete": true}})",
                        i + 1, 100 - i);
  }
  rows += R"(, {"index": 12, "kind": "decode", "wall_ns": 5, "complete": false})";
  const std::vector<ComparedInterval> found = ComparedIntervals(Passes(rows), "{}");
  EXPECT_EQ(Indices(found), (std::vector<int64_t>{10, 6, 2}));
  EXPECT_EQ(found[0].option, "pass");
}

TEST(ComparedIntervals, NamesAPassOnceWhereThereAreFew) {
  EXPECT_EQ(Indices(ComparedIntervals(
                Passes(R"({"index": 4, "kind": "x", "wall_ns": 1, "complete": true})"), "{}")),
            (std::vector<int64_t>{4}));
}

TEST(ComparedIntervals, TakesStepsWhereNoPassIsWhole) {
  const std::vector<ComparedInterval> found = ComparedIntervals(
      R"({"error": {"code": "failed"}})",
      R"({"data": null, "ranks": [{"data": {"steps": [)"
      R"({"index": 1, "phase": "decode", "wall_ns": 7}, {"index": 0, "phase": "decode", "wall_ns": 7},)"
      R"({"index": 2, "phase": "decode", "wall_ns": null}]}}]})");
  EXPECT_EQ(Indices(found), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(found[0].option, "step");
}

TEST(LayersShown, NamesThePassAndItsLayers) {
  const ShownLayers shown =
      LayersShown(R"({"data": {"pass": 3, "layers": [{"index": 0}, {"index": 1}]}})");
  EXPECT_EQ(shown.pass, 3);
  EXPECT_EQ(shown.layers, (std::vector<int64_t>{0, 1}));
  EXPECT_FALSE(LayersShown("no JSON").pass);
}

TEST(WithoutSpaces, KeepsWhatStandsInStrings) {
  EXPECT_EQ(WithoutSpaces("{ \"a b\" :\n [1, \"c \\\" d\\\\\" ,2] }\n"),
            "{\"a b\":[1,\"c \\\" d\\\\\",2]}");
}

// Counted by hand: the frame is 21 bytes, a row 11, its comma 1; "<" is written with six.
TEST(LevelsWithin, CountsTheRowsOfEachLevel) {
  const std::string row_1 = R"({"depth":1})";
  const std::string row_2 = R"({"depth":2})";
  const std::string tree =
      R"({"data":{"nodes":[)" + row_1 + "," + row_2 + "," + row_2 + "," + row_1 + "]}}";
  EXPECT_EQ(tree.size(), 18U + 4 * 11 + 3 + 3);
  EXPECT_EQ(LevelsWithin(tree, 68), 2);
  EXPECT_EQ(LevelsWithin(tree, 67), 1);
  EXPECT_EQ(LevelsWithin(tree, 44), 1);
  EXPECT_EQ(LevelsWithin(tree, 43), 0);
  const std::string names = R"({"ranks":[{"data":{"nodes":[{"depth":1,"n":"<"}]}}]})";
  EXPECT_EQ(LevelsWithin(names, names.size() + 4), 0);
  EXPECT_EQ(LevelsWithin(names, names.size() + 5), 1);
  EXPECT_EQ(LevelsWithin("{\"error\":{}}", 5), 0);
}

}  // namespace
}  // namespace layerscope::server

#include "src/session/rank_name.h"

#include <gtest/gtest.h>

namespace layerscope::session {
namespace {

std::optional<int64_t> RankIn(std::string_view name) {
  return RankOf(ParseRankName(name), 0);
}

TEST(RankName, ReadsTheNamesThatPeopleHave) {
  EXPECT_EQ(RankIn("rank0.1773709742341309550.pt.trace.json.gz"), 0);
  EXPECT_EQ(RankIn("dp0_pp0_tp1_dcp0_ep1_rank1.177.pt.trace.json.gz"), 1);
  EXPECT_EQ(RankIn("1771234567.89-TP-3-DP-0-PP-0-EP-0.trace.json.gz"), 3);
  EXPECT_EQ(RankIn("bs_32_rank7.json.gz"), 7);
  EXPECT_EQ(RankIn("graph_capture_rank_2.177.pt.trace.json.gz"), 2);
  EXPECT_EQ(RankIn("rank-34.Jul_15.pt.trace.json.gz"), 34);
}

TEST(RankName, NothingIsAssumed) {
  EXPECT_EQ(RankIn("trace.json"), std::nullopt);
  EXPECT_EQ(RankIn("frank3.json"), std::nullopt);  // a word that ends in rank
  EXPECT_EQ(RankIn("ranking.json"), std::nullopt);
  EXPECT_EQ(RankIn("merged-177-TP-0.trace.json.gz"), std::nullopt);
}

TEST(RankName, PipelineStagesNeedTheSizeOfAStage) {
  const RankName name = ParseRankName("177-TP-1-DP-0-PP-2-EP-0.trace.json.gz");
  EXPECT_EQ(RankOf(name, 0), std::nullopt);
  EXPECT_EQ(RankOf(name, 4), 9);
}

}  // namespace
}  // namespace layerscope::session

#include "src/render/health_lines.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/sample_result.h"

namespace layerscope::render {
namespace {

using table::HealthEntry;
using table::Severity;

std::vector<std::string> Texts(const std::vector<HealthEntry>& health) {
  std::vector<std::string> texts;
  for (const HealthEntry& entry : health) texts.push_back(HealthText(entry));
  return texts;
}

using TextList = std::vector<std::string>;

table::Result FourRanks() {
  table::Result result;
  for (int64_t rank = 0; rank < 4; ++rank) {
    result.ranks.push_back(SampleRank());
    result.ranks.back().rank = rank;
    result.inputs.push_back({});
  }
  return result;
}

TEST(HealthLinesTest, EqualWarningsOfRanksAreOneEntry) {
  table::Result result = FourRanks();
  result.health = {{"truncated", Severity::kDataLoss, 1, "Cut."}};
  for (table::RankResult& rank : result.ranks) {
    rank.warnings.push_back({"graph_replay", Severity::kWarning, 2, "Graph."});
  }
  result.ranks[1].warnings.push_back({"skew", Severity::kWarning, 1, "Late."});
  result.ranks[3].warnings.push_back({"skew", Severity::kWarning, 1, "Late."});
  result.ranks[2].warnings.push_back({"gap", Severity::kInfo, 1, "Idle."});
  EXPECT_EQ(Texts(CollectHealth(result)),
            (TextList{"Cut. [truncated]", "Graph. [graph_replay × 8]",
                      "ranks 1, 3: Late. [skew × 2]", "rank 2: Idle. [gap]"}));
}

TEST(HealthLinesTest, PeopleSeeTheWorstFirstAndInfoOnlyWhenVerbose) {
  table::Result result;
  result.health = {{"a", Severity::kInfo, 1, "Info."},
                   {"b", Severity::kWarning, 1, "Warning."},
                   {"c", Severity::kError, 1, "Error."},
                   {"d", Severity::kDataLoss, 1234, "Loss."}};
  EXPECT_EQ(Texts(HealthForPeople(result, false)),
            (TextList{"Error. [c]", "Loss. [d × 1,234]", "Warning. [b]"}));
  EXPECT_EQ(HealthForPeople(result, true).back().code, "a");
  EXPECT_EQ(SeverityWords(Severity::kDataLoss), "data loss");
}

TEST(HealthLinesTest, CoverageNamesLayersOnlyWhenAnyIsKnown) {
  table::Coverage coverage{
      1000, {{"launch_correlation", 972}, {"unresolved", 28}}, {{"unresolved", 1000}}};
  EXPECT_EQ(CoverageLines(coverage),
            TextList{"evidence: launch_correlation 97.2 %, unresolved 2.8 %"});
  coverage.layer = {{"anchor_kernel", 900}, {"unresolved", 100}};
  EXPECT_EQ(CoverageLines(coverage).at(0),
            "evidence of modules: launch_correlation 97.2 %, unresolved 2.8 %");
  EXPECT_EQ(CoverageLines(coverage).at(1),
            "evidence of layers: anchor_kernel 90.0 %, unresolved 10.0 %");
  coverage = {1'000'000, {{"launch_correlation", 999'900}, {"unresolved", 100}}, {}};
  EXPECT_EQ(CoverageLines(coverage),
            TextList{"evidence: launch_correlation >99.9 %, unresolved <0.1 %"});
  EXPECT_EQ(CoverageLines({}), TextList{});
}

}  // namespace
}  // namespace layerscope::render

#include "src/session/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace layerscope::session {
namespace {

TEST(Registry, EveryAnalysisHasAOneLineSummaryAndTwoExamplesOfItself) {
  ASSERT_FALSE(Analyses().empty());
  for (const AnalysisSpec& spec : Analyses()) {
    EXPECT_FALSE(spec.summary.empty()) << spec.name;
    EXPECT_EQ(spec.examples.size(), 2U) << spec.name;
    for (const std::string& example : spec.examples) {
      EXPECT_TRUE(example.starts_with("layerscope ")) << example;
    }
    EXPECT_NE(spec.examples[1].find(" " + spec.name + " "), std::string::npos) << spec.name;
    EXPECT_EQ(FindAnalysis(spec.name), &spec);
  }
  EXPECT_EQ(FindAnalysis("modles"), nullptr);
}

TEST(Registry, OptionsOfAVerbAreDistinctAndExplained) {
  for (const AnalysisSpec& spec : Analyses()) {
    std::set<std::string> names;
    std::set<char> letters;
    for (const OptionSpec& option : AllOptions(spec)) {
      EXPECT_TRUE(names.insert(option.name).second) << spec.name << " --" << option.name;
      const bool letter_is_free = option.letter == 0 || letters.insert(option.letter).second;
      EXPECT_TRUE(letter_is_free) << option.letter;
      EXPECT_FALSE(option.help.empty()) << option.name;
      EXPECT_NE(option.help.back(), '.') << option.name;
      EXPECT_EQ(option.kind == OptionKind::kFlag, option.value_name.empty()) << option.name;
      EXPECT_EQ(option.kind == OptionKind::kChoice, !option.choices.empty()) << option.name;
    }
  }
}

TEST(Registry, VerbsWithSideFilesAreGivenResolvedModules) {
  for (const char* const name : {"summary", "modules", "steps", "layers"}) {
    EXPECT_TRUE(ResolvesModules(*FindAnalysis(name))) << name;
  }
  for (const char* const name : {"info", "overhead"}) {
    EXPECT_FALSE(ResolvesModules(*FindAnalysis(name))) << name;
  }
}

}  // namespace
}  // namespace layerscope::session

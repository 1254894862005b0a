#include "src/session/option.h"

#include <gtest/gtest.h>

#include "src/session/shared_options.h"

namespace layerscope::session {
namespace {

std::vector<OptionSpec> Specs() {
  std::vector<OptionSpec> specs = SelectionOptions();
  OptionSpec limit = TextOption("limit", "SIZE", "a size");
  limit.kind = OptionKind::kSize;
  limit.in_envelope = false;
  specs.push_back(limit);
  specs.push_back(ChoiceOption("by", "KEY", {"name", "module"}, "a choice"));
  specs.push_back(FlagOption("strict", "a flag"));
  return specs;
}

base::Error FailureOf(const RawOptions& raw) {
  base::Result<OptionValues> values = ParseOptions(Specs(), raw);
  EXPECT_FALSE(values.ok());
  return values.ok() ? base::Error() : values.error();
}

TEST(ParseOptions, ReadsEachKind) {
  base::Result<OptionValues> values = ParseOptions(Specs(), {{"rank", "3"},
                                                             {"pid", "[TP-0] 7"},
                                                             {"step", "3..5"},
                                                             {"from", "1.5us"},
                                                             {"limit", "2GiB"},
                                                             {"by", "module"},
                                                             {"strict", "true"}});
  ASSERT_TRUE(values.ok());
  EXPECT_EQ(values->Number("rank"), 3);
  EXPECT_EQ(values->Text("pid"), "[TP-0] 7");
  EXPECT_EQ(values->Range("step"), std::pair(int64_t{3}, int64_t{5}));
  EXPECT_EQ(values->Number("from"), 1500);
  EXPECT_EQ(values->Number("limit"), int64_t{2} << 30);
  EXPECT_EQ(values->Choice("by"), 1U);
  EXPECT_TRUE(values->Flag("strict"));
  EXPECT_FALSE(values->Has("device"));
}

TEST(ParseOptions, OneStepIsARangeOfOne) {
  base::Result<OptionValues> values = ParseOptions(Specs(), {{"step", "4"}});
  ASSERT_TRUE(values.ok());
  EXPECT_EQ(values->Range("step"), std::pair(int64_t{4}, int64_t{4}));
}

TEST(ParseOptions, SaysWhatIsWanted) {
  EXPECT_EQ(FailureOf({{"rank", "two"}}).message, "--rank: 'two' is not a whole number");
  EXPECT_EQ(FailureOf({{"rank", "-1"}}).code, base::ErrorCode::kUsage);
  EXPECT_EQ(FailureOf({{"from", "soon"}}).code, base::ErrorCode::kUsage);
  EXPECT_EQ(FailureOf({{"step", "5..3"}}).code, base::ErrorCode::kUsage);
  EXPECT_EQ(FailureOf({{"limit", "much"}}).code, base::ErrorCode::kUsage);
}

TEST(ParseOptions, TimesNeedAUnit) {
  EXPECT_EQ(FailureOf({{"from", "5"}}).message, "--from: '5' has no unit");
  EXPECT_EQ(FailureOf({{"to", "1.5"}}).hint, "1.5ns? 1.5ms? Write the unit: 3.2ms");
  EXPECT_TRUE(ParseOptions(Specs(), {{"from", "0"}}).ok());
}

TEST(ParseOptions, SuggestsTheNearestChoice) {
  const base::Error error = FailureOf({{"by", "modul"}});
  EXPECT_EQ(error.message, "--by: no 'modul'; did you mean 'module'?");
  EXPECT_EQ(error.hint, "choose one of: name, module");
}

TEST(ParseOptions, SomeOptionsTakeSeveralTexts) {
  OptionSpec bench = TextOption("bench", "FILE", "a file");
  bench.kind = OptionKind::kTexts;
  base::Result<OptionValues> values =
      ParseOptions({bench}, {{"bench", std::string("a b") + kBetweenTexts + "c"}});
  ASSERT_TRUE(values.ok());
  EXPECT_EQ(values->Texts("bench"), (std::vector<std::string>{"a b", "c"}));
  EXPECT_TRUE(ParseOptions({bench}, {})->Texts("bench").empty());
}

TEST(EnvelopeOptions, HoldWhatWasGivenAndChangesTheResult) {
  base::Result<OptionValues> values =
      ParseOptions(Specs(), {{"step", "3..5"}, {"limit", "1K"}, {"rank", "1"}});
  ASSERT_TRUE(values.ok());
  const table::Object options = EnvelopeOptions(Specs(), *values);
  ASSERT_EQ(options.size(), 2U);
  EXPECT_EQ(options[0].first, "rank");
  EXPECT_EQ(options[1].first, "step");
  EXPECT_EQ(std::get<std::string>(options[1].second.variant()), "3..5");
}

}  // namespace
}  // namespace layerscope::session

#include "src/trace/ledger.h"

#include <gtest/gtest.h>

#include <string>

namespace layerscope::trace {
namespace {

TEST(Ledger, IsSilentWhenNothingHappened) {
  EXPECT_TRUE(Ledger().ToHealth().empty());
}

TEST(Ledger, ReportsCountsWithTheirSeverityInOrderOfTheList) {
  Ledger ledger;
  ledger.Add(LedgerCode::missing_dur, 3);
  ledger.Add(LedgerCode::truncated);
  const auto health = ledger.ToHealth();
  ASSERT_EQ(health.size(), 2U);
  EXPECT_EQ(health[0].code, "truncated");
  EXPECT_EQ(health[0].severity, table::Severity::kDataLoss);
  EXPECT_EQ(health[1].code, "missing_dur");
  EXPECT_EQ(health[1].severity, table::Severity::kInfo);
  EXPECT_EQ(health[1].count, 3);
}

TEST(Ledger, KeepsTheFirstSamplesAndCountsAll) {
  Ledger ledger;
  for (int i = 0; i < 10; ++i) ledger.AddSample(LedgerCode::bad_event, i, std::to_string(i));
  EXPECT_EQ(ledger.count(LedgerCode::bad_event), 10);
  ASSERT_EQ(ledger.samples(LedgerCode::bad_event).size(), Ledger::kMaxSamples);
  EXPECT_EQ(ledger.samples(LedgerCode::bad_event)[2].text, "2");
  EXPECT_NE(ledger.ToHealth()[0].message.find("At byte 1: 1"), std::string::npos);
}

TEST(Ledger, SamplesAreShortAndSafeForATerminal) {
  Ledger ledger;
  ledger.AddSample(LedgerCode::bad_event, -1, "\x1b[31m\xc3\xa4" + std::string(1000, 'x'));
  const std::string& text = ledger.samples(LedgerCode::bad_event)[0].text;
  EXPECT_EQ(text.substr(0, 16), "\\x1b[31m\\xc3\\xa4");
  EXPECT_LT(text.size(), 330U);
  EXPECT_EQ(ledger.ToHealth()[0].message.find("At byte"), std::string::npos);
}

TEST(Ledger, ACutSampleSaysSoAndASentenceOfTheProfilerIsWhole) {
  const std::string sentence =
      "CUDA device 0: Unified Memory cannot be traced on devices that don't support peer-to-peer "
      "transfers.";
  Ledger ledger;
  ledger.AddSample(LedgerCode::bad_event, -1, sentence);
  ledger.AddSample(LedgerCode::profiler_warning, -1, sentence);
  EXPECT_EQ(ledger.samples(LedgerCode::bad_event)[0].text, sentence.substr(0, 80) + "…");
  EXPECT_EQ(ledger.samples(LedgerCode::profiler_warning)[0].text, sentence);
}

TEST(Ledger, MergingKeepsTheEarlierSamplesFirst) {
  Ledger first;
  Ledger second;
  first.AddSample(LedgerCode::bad_event, 1, "one");
  second.AddSample(LedgerCode::bad_event, 2, "two");
  second.AddSample(LedgerCode::bad_event, 3, "three");
  second.AddSample(LedgerCode::bad_event, 4, "four");
  second.Add(LedgerCode::missing_ts, 5);
  first.Merge(second);
  EXPECT_EQ(first.count(LedgerCode::bad_event), 4);
  EXPECT_EQ(first.count(LedgerCode::missing_ts), 5);
  ASSERT_EQ(first.samples(LedgerCode::bad_event).size(), 3U);
  EXPECT_EQ(first.samples(LedgerCode::bad_event)[0].text, "one");
  EXPECT_EQ(first.samples(LedgerCode::bad_event)[2].text, "three");
}

}  // namespace
}  // namespace layerscope::trace

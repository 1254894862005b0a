#include "src/base/format_number.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace layerscope::base {
namespace {

// All expectations by hand.
TEST(FormatDuration, PicksTheUnitThatKeepsThreeDigits) {
  EXPECT_EQ(FormatDuration(0), "0 ns");
  EXPECT_EQ(FormatDuration(999), "999 ns");
  EXPECT_EQ(FormatDuration(1'000), "1.00 us");
  EXPECT_EQ(FormatDuration(14'600'000), "14.6 ms");
  EXPECT_EQ(FormatDuration(999'999'999), "1.00 s");
  EXPECT_EQ(FormatDuration(-2'500'000'000), "-2.50 s");
}

TEST(FormatCount, GroupsByThree) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1'234'567), "1,234,567");
  EXPECT_EQ(FormatCount(-1'234), "-1,234");
}

TEST(FormatShare, HasOneDecimalAndNoDivisionByZero) {
  EXPECT_EQ(FormatShare(973, 1000), "97.3 %");
  EXPECT_EQ(FormatShare(1, 0), "-");
}

TEST(FormatShare, DoesNotRoundToNothingOrAll) {
  EXPECT_EQ(FormatShare(0, 1000), "0.0 %");
  EXPECT_EQ(FormatShare(1, 10'000), "<0.1 %");
  EXPECT_EQ(FormatShare(9'999, 10'000), ">99.9 %");
  EXPECT_EQ(FormatShare(10'000, 10'000), "100.0 %");
}

TEST(FormatCounted, PutsTheNounIntoThePlural) {
  EXPECT_EQ(FormatCounted(1, "row"), "1 row");
  EXPECT_EQ(FormatCounted(0, "row"), "0 rows");
  EXPECT_EQ(FormatCounted(1'234, "copy", "copies"), "1,234 copies");
  EXPECT_EQ(FormatCounted(1, "copy", "copies"), "1 copy");
}

TEST(ParseDuration, TakesUnitsExactly) {
  EXPECT_EQ(ParseDuration("3.2ms"), 3'200'000);
  EXPECT_EQ(ParseDuration("17"), 17);
  EXPECT_EQ(ParseDuration("1.000000001 s"), 1'000'000'001);
  EXPECT_EQ(ParseDuration("ms"), std::nullopt);
  EXPECT_EQ(ParseDuration("3h"), std::nullopt);
  EXPECT_EQ(ParseDuration("9999999999999999999s"), std::nullopt);
}

TEST(ParseBytes, TellsDecimalFromBinaryUnits) {
  EXPECT_EQ(ParseBytes("2GB"), 2'000'000'000);
  EXPECT_EQ(ParseBytes("2GiB"), 2'147'483'648);
  EXPECT_EQ(ParseBytes("1.5K"), 1'536);
}

TEST(FormatDecimal, IsExact) {
  EXPECT_EQ(FormatDecimal(0, 9), "0.000000000");
  EXPECT_EQ(FormatDecimal(1'234'567'890, 9), "1.234567890");
  EXPECT_EQ(FormatDecimal(1'234'567, 3), "1234.567");
  EXPECT_EQ(FormatDecimal(-5, 9), "-0.000000005");
  EXPECT_EQ(FormatDecimal(std::numeric_limits<int64_t>::min(), 9), "-9223372036.854775808");
}

TEST(PartsPerMillion, HasNoOverflowAndNoDivisionByZero) {
  EXPECT_EQ(PartsPerMillion(1, 3), 333'333);
  EXPECT_EQ(PartsPerMillion(1, 2'000'000), 0);
  EXPECT_EQ(PartsPerMillion(3, 2'000'000), 2);
  EXPECT_EQ(PartsPerMillion(5, 0), 0);
  // A quarter of 40,000 hours.
  EXPECT_EQ(PartsPerMillion(int64_t{36'000'000'000'000'000}, int64_t{144'000'000'000'000'000}),
            250'000);
}

TEST(DivideHalfEven, RoundsTiesToEven) {
  EXPECT_EQ(DivideHalfEven(5, 2), 2);
  EXPECT_EQ(DivideHalfEven(7, 2), 4);
  EXPECT_EQ(DivideHalfEven(-5, 2), -2);
  EXPECT_EQ(DivideHalfEven(-7, 2), -4);
  EXPECT_EQ(DivideHalfEven(10, 3), 3);
}

}  // namespace
}  // namespace layerscope::base

#include "src/ingest/kineto/decimal_time.h"

#include <gtest/gtest.h>

namespace layerscope::ingest::kineto {
namespace {

// Every expectation is the decimal text times 1000, by hand.

TEST(ParseMicroseconds, ReadsThreeDecimalsExactlyWhereADoubleCannot) {
  const DecimalTime time = ParseMicroseconds("6012345678901.234");
  EXPECT_EQ(time.ns, 6012345678901234);
  EXPECT_EQ(time.status, TimeStatus::kExact);
  // 2^53 < 4909914216204635 x 10: the nearest double of the token is off by nanoseconds.
  EXPECT_EQ(ParseMicroseconds("49099142162046.357").ns, 49099142162046357);
}

TEST(ParseMicroseconds, ReadsFewerDecimals) {
  EXPECT_EQ(ParseMicroseconds("7").ns, 7000);
  EXPECT_EQ(ParseMicroseconds("7.5").ns, 7500);
  EXPECT_EQ(ParseMicroseconds("7.05").ns, 7050);
  EXPECT_EQ(ParseMicroseconds("0.001").ns, 1);
  EXPECT_EQ(ParseMicroseconds("-1").ns, -1000);
  EXPECT_EQ(ParseMicroseconds("\"12.250\"").ns, 12250);
}

TEST(ParseMicroseconds, RoundsDigitsBelowANanosecondHalfToEven) {
  EXPECT_EQ(ParseMicroseconds("0.0005").ns, 0);
  EXPECT_EQ(ParseMicroseconds("0.0015").ns, 2);
  EXPECT_EQ(ParseMicroseconds("0.0025").ns, 2);
  EXPECT_EQ(ParseMicroseconds("0.00250000000000000000001").ns, 3);
  EXPECT_EQ(ParseMicroseconds("1.2344999").ns, 1234);
  EXPECT_EQ(ParseMicroseconds("0.0025").status, TimeStatus::kRounded);
  EXPECT_EQ(ParseMicroseconds("0.0000").status, TimeStatus::kExact);
  EXPECT_EQ(ParseMicroseconds("1.2340000").status, TimeStatus::kExact);
}

TEST(ParseMicroseconds, ReadsExponents) {
  EXPECT_EQ(ParseMicroseconds("1e3").ns, 1000000);
  EXPECT_EQ(ParseMicroseconds("1.5E+2").ns, 150000);
  EXPECT_EQ(ParseMicroseconds("1234e-3").ns, 1234);
  EXPECT_EQ(ParseMicroseconds("5e-4").ns, 0);
  EXPECT_EQ(ParseMicroseconds("15e-4").ns, 2);
}

TEST(ParseMicroseconds, RefusesWhatDoesNotFit) {
  EXPECT_EQ(ParseMicroseconds("1e300").status, TimeStatus::kOutOfRange);
  EXPECT_EQ(ParseMicroseconds("1e99999999999999999999").status, TimeStatus::kOutOfRange);
  EXPECT_EQ(ParseMicroseconds("9223372036854775807").status, TimeStatus::kOutOfRange);
  // The limit is a day, 86400 x 10^9 ns, below 2^62 = 4611686018427387904 ns.
  EXPECT_EQ(ParseMicroseconds("4611599618427387.904").ns, 4611599618427387904);
  EXPECT_EQ(ParseMicroseconds("4611599618427387.905").status, TimeStatus::kOutOfRange);
  EXPECT_EQ(ParseMicroseconds("-4611599618427387.904").ns, -4611599618427387904);
}

TEST(ParseMicroseconds, TellsWhatIsNoNumber) {
  for (const char* token :
       {"", "NaN", "-Infinity", "null", "true", "\"\"", "1.2.3", "1e", "0x10", "-", ".", "12a"}) {
    EXPECT_EQ(ParseMicroseconds(token).status, TimeStatus::kNotANumber) << token;
  }
}

}  // namespace
}  // namespace layerscope::ingest::kineto

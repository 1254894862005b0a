#include "src/workload/decimal.h"

#include <gtest/gtest.h>

#include <string>

namespace layerscope::workload {
namespace {

TEST(ScaledDecimal, IsExactBeyondWhatADoubleHolds) {
  EXPECT_EQ(ScaledDecimal("1764433902.123456789", kSeconds), 1764433902123456789);
  EXPECT_EQ(ScaledDecimal("0.08077260999993996", kSeconds), 80772610);
  EXPECT_EQ(ScaledDecimal("412.49091206211597", kSeconds), 412490912062);
  EXPECT_EQ(ScaledDecimal("47.387346949983566", kMilliseconds), 47387347);
  EXPECT_EQ(ScaledDecimal("5.036999937146902e-06", kSeconds), 5037);
  EXPECT_EQ(ScaledDecimal("1.7959698509500344e+09", kSeconds), 1795969850950034400);
}

TEST(ScaledDecimal, RoundsHalfToEven) {
  EXPECT_EQ(ScaledDecimal("2.5", 0), 2);
  EXPECT_EQ(ScaledDecimal("3.5", 0), 4);
  EXPECT_EQ(ScaledDecimal("2.50000000000000000001", 0), 3);
  EXPECT_EQ(ScaledDecimal("-2.5", 0), -2);
  EXPECT_EQ(ScaledDecimal("-3.5", 0), -4);
  EXPECT_EQ(ScaledDecimal("0.5", 0), 0);
  EXPECT_EQ(ScaledDecimal("0.05", 0), 0);
  EXPECT_EQ(ScaledDecimal("0.9", 0), 1);
  EXPECT_EQ(ScaledDecimal("9.9", 0), 10);
  EXPECT_EQ(ScaledDecimal("6e-10", kSeconds), 1);
  EXPECT_EQ(ScaledDecimal("4e-10", kSeconds), 0);
  EXPECT_EQ(ScaledDecimal("9e-11", kSeconds), 0);
}

TEST(ScaledDecimal, TakesEveryWayOfWriting) {
  EXPECT_EQ(ScaledDecimal("+12", 0), 12);
  EXPECT_EQ(ScaledDecimal(".5", 1), 5);
  EXPECT_EQ(ScaledDecimal("5.", 0), 5);
  EXPECT_EQ(ScaledDecimal("12E2", 0), 1200);
  EXPECT_EQ(ScaledDecimal("1200e-2", 0), 12);
  EXPECT_EQ(ScaledDecimal("000123", 0), 123);
}

TEST(ScaledDecimal, RefusesWhatIsNoNumberOrTooLarge) {
  for (const char* text : {"", "-", ".", "e5", "1e", "1e+", "NaN", "+Inf", "Infinity", "1.2.3",
                           "1x", "9223372036854775808", "1e19", "1e999999999999", "0x10"}) {
    EXPECT_EQ(ScaledDecimal(text, 0), std::nullopt) << text;
  }
  EXPECT_EQ(ScaledDecimal("9223372036854775807", 0), 9223372036854775807);
  EXPECT_EQ(ScaledDecimal("0e999999999999", 0), 0);
  EXPECT_EQ(ScaledDecimal("1e-999999999999", 0), 0);
}

TEST(ScaledDecimal, IsLinearInTheText) {
  const std::string digits(1'000'000, '0');
  EXPECT_EQ(ScaledDecimal(digits + "7." + digits + "1", 0), 7);
}

}  // namespace
}  // namespace layerscope::workload

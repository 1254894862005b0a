#include "src/attribution/path_parts.h"

#include <gtest/gtest.h>

#include <string>

namespace layerscope::attribution {
namespace {

TEST(PathParts, ANumberIsDigitsAlone) {
  EXPECT_EQ(PartNumber("7"), 7);
  EXPECT_EQ(PartNumber("007"), 7);
  for (const char* name : {"", "mlp", "7a", "a7", "-7", "-0", "+7", "99999999999999999999"}) {
    EXPECT_EQ(PartNumber(name), -1) << name;
  }
}

TEST(PathParts, ThePartsOfAPath) {
  EXPECT_EQ(LastPart("model.layers.7.mlp"), "mlp");
  EXPECT_EQ(LastPart("lm_head"), "lm_head");
  EXPECT_EQ(SplitNumber("model.layers.7").list, "model.layers");
  EXPECT_EQ(SplitNumber("model.layers.7").number, 7);
  EXPECT_EQ(SplitNumber("model.norm").list, "model.norm");
  EXPECT_EQ(SplitNumber("model.norm").number, -1);
  EXPECT_EQ(SplitNumber("0").list, "");
  EXPECT_EQ(SplitNumber("0").number, 0);
  EXPECT_EQ(WithoutNumbers("blocks.3.0"), "blocks");
  EXPECT_EQ(WithoutNumbers("blocks.3.conv"), "blocks.3.conv");
  EXPECT_EQ(WithoutNumbers("0.1"), "0");
}

TEST(PathParts, TheFirstNumberOfAPath) {
  const NumberedPart layer = FirstNumber("model.layers.12.mlp.experts.3");
  EXPECT_EQ(layer.number, 12);
  EXPECT_EQ(layer.begin, 13U);
  EXPECT_EQ(layer.end, 15U);
  EXPECT_EQ(FirstNumber("0.conv").number, 0);
  EXPECT_EQ(FirstNumber("model.norm").number, -1);
  EXPECT_EQ(FirstNumber("").number, -1);
}

/// A hostile path costs no more than its length, whatever stands in it.
TEST(PathParts, LongPathsAreReadOnce) {
  std::string path = "a";
  for (int i = 0; i < 100'000; ++i) path += ".1";
  EXPECT_EQ(WithoutNumbers(path), "a");
  EXPECT_EQ(FirstNumber(std::string(1'000'000, '.')).number, -1);
}

}  // namespace
}  // namespace layerscope::attribution

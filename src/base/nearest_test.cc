#include "src/base/nearest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace layerscope::base {
namespace {

const std::vector<std::string> kColumns = {"wall", "busy", "sum", "kernels"};

TEST(Nearest, FindsAWordWithOneLetterMissing) {
  EXPECT_EQ(Nearest("wal", kColumns), "wall");
}

TEST(Nearest, CountsASwapOfNeighboursAsOneEdit) {
  EXPECT_EQ(Nearest("kernesl", kColumns), "kernels");
}

TEST(Nearest, ABeginningMeansTheShortestWordThatItBegins) {
  const std::vector<std::string> columns = {"cpu", "gpu_incl_all", "gpu_incl", "gpu_excl"};
  EXPECT_EQ(Nearest("gpu", columns), "gpu_incl");
  EXPECT_EQ(Nearest("cp", columns), "cpu");
}

TEST(Nearest, IsEmptyWhenNothingIsNear) {
  EXPECT_EQ(Nearest("roofline", kColumns), "");
}

TEST(Nearest, IsEmptyWithoutCandidates) {
  EXPECT_EQ(Nearest("wall", {}), "");
}

TEST(DidYouMean, NamesTheNearest) {
  EXPECT_EQ(DidYouMean("wal", kColumns), "; did you mean 'wall'?");
}

}  // namespace
}  // namespace layerscope::base

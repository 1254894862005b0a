#include "src/document/time_spans.h"

#include <gtest/gtest.h>

namespace layerscope::document {
namespace {

TEST(TimeSpans, AnswersOverMergedIntervalsWithBothEnds) {
  TimeSpans spans;
  spans.Add(10, 20);
  spans.Add(50, 40);
  spans.Add(15, 30);
  spans.Freeze();
  EXPECT_FALSE(spans.Contains(9));
  EXPECT_TRUE(spans.Contains(10));
  EXPECT_TRUE(spans.Contains(30));
  EXPECT_FALSE(spans.Contains(31));
  EXPECT_TRUE(spans.Contains(50));
  EXPECT_TRUE(spans.Overlaps(0, 10));
  EXPECT_TRUE(spans.Overlaps(31, 50));
  EXPECT_FALSE(spans.Overlaps(31, 49));
  EXPECT_TRUE(spans.Overlaps(0, 100));
}

TEST(TimeSpans, NothingContainsNothing) {
  TimeSpans spans;
  spans.Freeze();
  EXPECT_TRUE(spans.empty());
  EXPECT_FALSE(spans.Overlaps(-1, 1));
}

}  // namespace
}  // namespace layerscope::document

#include "src/workload/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace layerscope::workload {
namespace {

Request At(int64_t start, int64_t length) {
  Request request;
  request.start_ns = start;
  request.e2e_ns = length;
  return request;
}

// numpy.percentile([10, 20, 40, 80], [50, 90, 95, 99]) = 30, 68, 74, 78.8; mean 37.5; std 26.81
TEST(Summarise, GivesNumpysFigures) {
  const Distribution of = Summarise({80, 10, 40, 20});
  EXPECT_EQ(of.n, 4);
  EXPECT_EQ(of.mean_ns, 38);  // half to even
  EXPECT_EQ(of.std_ns, 27);
  EXPECT_EQ(of.min_ns, 10);
  EXPECT_EQ(of.max_ns, 80);
  EXPECT_EQ(of.percentiles[0], 30);
  EXPECT_EQ(of.percentiles[1], 68);
  EXPECT_EQ(of.percentiles[2], 74);
  EXPECT_EQ(of.percentiles[3], 79);
}

TEST(Summarise, OfNothingKnowsNothing) {
  const Distribution of = Summarise({});
  EXPECT_EQ(of.n, 0);
  EXPECT_EQ(of.mean_ns, std::nullopt);
  EXPECT_EQ(Summarise({7}).percentiles[3], 7);
}

TEST(ConcurrencyOf, CountsRequestsInFlight) {
  const std::vector<ConcurrencyStep> steps =
      ConcurrencyOf({At(10, 20), At(20, 10), At(30, 5), At(100, 1), Request()});
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (const ConcurrencyStep& step : steps) pairs.emplace_back(step.t_ns, step.n);
  // At 30 two end and one begins.
  EXPECT_EQ(pairs, (std::vector<std::pair<int64_t, int64_t>>{
                       {10, 1}, {20, 2}, {30, 1}, {35, 0}, {100, 1}, {101, 0}}));
}

TEST(SplitQueue, FindsRequestsThatWaited) {
  const std::optional<QueueSplit> split =
      SplitQueue({100, 110, 120, 105, 95, 1600, 1700, 1500, 115});
  ASSERT_TRUE(split);
  EXPECT_EQ(split->n_below, 6);
  EXPECT_EQ(split->n_above, 3);
  EXPECT_EQ(split->threshold_ns, 424);  // sqrt(120 × 1500)
}

TEST(SplitQueue, LeavesOneGroupWhole) {
  std::vector<int64_t> even;
  for (int64_t i = 1; i <= 1000; ++i) even.push_back(1'000'000 + i * 1000);
  EXPECT_FALSE(SplitQueue(even));
  std::vector<int64_t> geometric;
  for (int i = 0; i < 200; ++i) geometric.push_back(static_cast<int64_t>(1000 * std::pow(1.03, i)));
  EXPECT_FALSE(SplitQueue(geometric));
  EXPECT_FALSE(SplitQueue({}));
  EXPECT_FALSE(SplitQueue({5}));
  EXPECT_FALSE(SplitQueue({5, 5, 5, 5}));
  EXPECT_FALSE(SplitQueue({100, 101, 102, 103, 104, 105, 9000}));  // one alone is no group
}

}  // namespace
}  // namespace layerscope::workload

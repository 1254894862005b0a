#include "src/ingest/nsys/time_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace layerscope::ingest::nsys {
namespace {

TEST(TimeOrder, RowsInOrderStayAsTheyAre) {
  EXPECT_TRUE(TimeOrder({}).empty());
  EXPECT_TRUE(TimeOrder({5}).empty());
  EXPECT_TRUE(TimeOrder({1, 1, 2, 9}).empty());
}

TEST(TimeOrder, EqualTimesKeepTheirOrder) {
  EXPECT_EQ(TimeOrder({3, 1, 3, 1, 2}), (std::vector<uint32_t>{1, 3, 4, 0, 2}));
}

TEST(TimeOrder, IsTheStableSortForAnyNumberOfRuns) {
  for (const size_t n : {2U, 3U, 7U, 100U, 1000U}) {
    std::vector<int64_t> times;
    for (size_t i = 0; i < n; ++i) times.push_back(static_cast<int64_t>((i * 7919) % (n / 2 + 1)));
    times.push_back(-1);
    std::vector<uint32_t> sorted(times.size());
    std::iota(sorted.begin(), sorted.end(), 0);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](uint32_t a, uint32_t b) { return times[a] < times[b]; });
    EXPECT_EQ(TimeOrder(times), sorted) << n;
    Reorder(sorted, times);
    EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  }
}

}  // namespace
}  // namespace layerscope::ingest::nsys

#include "src/attribution/key_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace layerscope::attribution {
namespace {

using Rows = std::vector<uint32_t>;

Rows Found(const KeyIndex& index, int64_t key) {
  const auto rows = index.Find(key);
  return {rows.begin(), rows.end()};
}

TEST(KeyIndex, EmptyFindsNothing) {
  EXPECT_EQ(Found(KeyIndex(), 0), Rows());
  EXPECT_EQ(Found(KeyIndex({}, {}), 7), Rows());
}

TEST(KeyIndex, FindsDenseKeysInFileOrder) {
  const std::vector<int64_t> keys = {12, 10, 12, 99, 11, 12};
  const Rows rows = {0, 1, 2, 4, 5};  // row 3 is not taken
  const KeyIndex index(keys, rows);
  EXPECT_EQ(Found(index, 12), (Rows{0, 2, 5}));
  EXPECT_EQ(Found(index, 10), (Rows{1}));
  EXPECT_EQ(Found(index, 11), (Rows{4}));
  EXPECT_EQ(Found(index, 9), Rows());
  EXPECT_EQ(Found(index, 13), Rows());
  EXPECT_EQ(Found(index, 99), Rows());
}

TEST(KeyIndex, FindsScatteredKeysUpToTheEndsOfTheRange) {
  constexpr int64_t kLow = std::numeric_limits<int64_t>::min();
  constexpr int64_t kHigh = std::numeric_limits<int64_t>::max();
  const std::vector<int64_t> keys = {kHigh, 0, kLow, kHigh, -5};
  const Rows rows = {0, 1, 2, 3, 4};
  const KeyIndex index(keys, rows);
  EXPECT_EQ(Found(index, kHigh), (Rows{0, 3}));
  EXPECT_EQ(Found(index, kLow), (Rows{2}));
  EXPECT_EQ(Found(index, -5), (Rows{4}));
  EXPECT_EQ(Found(index, 1), Rows());
}

TEST(KeyIndex, ReordersOnlyGroupsOfSeveral) {
  const std::vector<int64_t> keys = {1, 2, 1};
  const Rows rows = {0, 1, 2};
  KeyIndex index(keys, rows);
  size_t calls = 0;
  index.ReorderGroups([&](std::span<uint32_t> group) {
    ++calls;
    std::reverse(group.begin(), group.end());
  });
  EXPECT_EQ(calls, 1U);
  EXPECT_EQ(Found(index, 1), (Rows{2, 0}));
}

}  // namespace
}  // namespace layerscope::attribution

#include "src/attribution/key_index.h"

#include <algorithm>
#include <utility>

namespace layerscope::attribution {
namespace {

/// Up to this many array entries a row are worth it: 16 bytes a row, half of what sorting needs.
constexpr size_t kMaxRangePerRow = 4;

uint64_t Distance(int64_t from, int64_t to) {
  return static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
}

}  // namespace

KeyIndex::KeyIndex(std::span<const int64_t> keys, std::span<const uint32_t> rows) {
  if (rows.empty()) return;
  int64_t low = keys[rows.front()];
  int64_t high = low;
  for (const uint32_t row : rows) {
    low = std::min(low, keys[row]);
    high = std::max(high, keys[row]);
  }
  first_key_ = low;
  dense_ = Distance(low, high) < kMaxRangePerRow * rows.size();
  if (dense_) {
    BuildDense(keys, rows, static_cast<size_t>(Distance(low, high)) + 1);
  } else {
    BuildSorted(keys, rows);
  }
}

void KeyIndex::BuildDense(std::span<const int64_t> keys, std::span<const uint32_t> rows,
                          size_t range) {
  // Counted two places ahead, so that filling moves begin_[g + 1] from a group's start to its end.
  begin_.assign(range + 2, 0);
  for (const uint32_t row : rows) ++begin_[Distance(first_key_, keys[row]) + 2];
  for (size_t i = 2; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  rows_.resize(rows.size());
  for (const uint32_t row : rows) rows_[begin_[Distance(first_key_, keys[row]) + 1]++] = row;
  begin_.pop_back();
}

void KeyIndex::BuildSorted(std::span<const int64_t> keys, std::span<const uint32_t> rows) {
  std::vector<std::pair<int64_t, uint32_t>> sorted;
  sorted.reserve(rows.size());
  for (const uint32_t row : rows) sorted.emplace_back(keys[row], row);
  if (!std::is_sorted(sorted.begin(), sorted.end())) std::sort(sorted.begin(), sorted.end());
  begin_.clear();
  rows_.reserve(rows.size());
  for (const auto& [key, row] : sorted) {
    if (keys_.empty() || keys_.back() != key) {
      keys_.push_back(key);
      begin_.push_back(static_cast<uint32_t>(rows_.size()));
    }
    rows_.push_back(row);
  }
  begin_.push_back(static_cast<uint32_t>(rows_.size()));
}

std::span<const uint32_t> KeyIndex::Find(int64_t key) const {
  size_t group = 0;
  if (dense_) {
    const uint64_t distance = Distance(first_key_, key);
    if (key < first_key_ || distance >= begin_.size() - 1) return {};
    group = static_cast<size_t>(distance);
  } else {
    const auto at = std::lower_bound(keys_.begin(), keys_.end(), key);
    if (at == keys_.end() || *at != key) return {};
    group = static_cast<size_t>(at - keys_.begin());
  }
  return std::span(rows_).subspan(begin_[group], begin_[group + 1] - begin_[group]);
}

}  // namespace layerscope::attribution

#include "src/attribution/lane_order.h"

#include <algorithm>
#include <limits>

#include "src/base/checked_sum.h"

namespace layerscope::attribution {
namespace {

/// The times of a row beside its number: sorting then touches one small array only.
struct Key {
  int64_t start_ns;
  int64_t end_ns;
  uint32_t row;
};

bool NestsBefore(const Key& a, const Key& b) {
  if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
  if (a.end_ns != b.end_ns) return a.end_ns > b.end_ns;
  return a.row < b.row;
}

bool IsNested(std::span<const uint32_t> rows, const Intervals& intervals) {
  for (size_t i = 1; i < rows.size(); ++i) {
    const int64_t before = intervals.Start(rows[i - 1]);
    const int64_t start = intervals.Start(rows[i]);
    if (start > before) continue;
    if (start < before || intervals.End(rows[i]) > intervals.End(rows[i - 1])) return false;
  }
  return true;
}

void SortNested(std::span<uint32_t> rows, const Intervals& intervals, std::vector<Key>& keys) {
  keys.clear();
  for (const uint32_t row : rows) {
    keys.push_back({intervals.Start(row), intervals.End(row), row});
  }
  std::sort(keys.begin(), keys.end(), NestsBefore);
  for (size_t i = 0; i < keys.size(); ++i) rows[i] = keys[i].row;
}

}  // namespace

int64_t Intervals::End(uint32_t row) const {
  return base::AddClamped(start_ns[row], dur_ns[row]);
}

void LaneOrder::SortLanes(const Intervals& intervals) {
  std::vector<Key> keys;
  for (size_t lane = 0; lane < n_lanes(); ++lane) {
    const auto rows = std::span(rows_).subspan(begin_[lane], begin_[lane + 1] - begin_[lane]);
    if (!IsNested(rows, intervals)) SortNested(rows, intervals, keys);
  }
}

}  // namespace layerscope::attribution

#include "src/attribution/innermost_index.h"

#include <algorithm>

namespace layerscope::attribution {

void InnermostIndex::Append(uint32_t row, int64_t from_ns, int64_t to_ns) {
  const bool first_of_lane = from_ns_.size() == begin_.back();
  if (!first_of_lane && covered_to_ns_ < from_ns) {
    from_ns_.push_back(covered_to_ns_);
    row_.push_back(kNoRow);
  }
  from_ns_.push_back(from_ns);
  row_.push_back(row);
  covered_to_ns_ = to_ns;
}

void InnermostIndex::EndLane() {
  if (from_ns_.size() != begin_.back()) {
    from_ns_.push_back(covered_to_ns_);
    row_.push_back(kNoRow);
  }
  hint_.push_back(begin_.back());
  begin_.push_back(from_ns_.size());
}

uint32_t InnermostIndex::Find(size_t lane, int64_t t_ns) {
  if (lane >= hint_.size()) return kNoRow;
  const size_t begin = begin_[lane];
  const size_t end = begin_[lane + 1];
  if (begin == end || t_ns < from_ns_[begin]) return kNoRow;
  size_t low = begin;
  size_t high = hint_[lane];
  if (from_ns_[high] <= t_ns) {
    low = high;
    size_t step = 1;
    while (low + step < end && from_ns_[low + step] <= t_ns) {
      low += step;
      step *= 2;
    }
    high = std::min(low + step, end);
  }
  const auto first = from_ns_.begin();
  const auto after = std::upper_bound(first + static_cast<std::ptrdiff_t>(low),
                                      first + static_cast<std::ptrdiff_t>(high), t_ns);
  const auto at = static_cast<size_t>(after - first) - 1;
  hint_[lane] = at;
  return row_[at];
}

}  // namespace layerscope::attribution

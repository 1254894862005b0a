#include "src/replay/placement_votes.h"

#include <algorithm>

namespace layerscope::replay {

SkipCosts::SkipCosts(std::span<const Element> replayed, std::span<const Element> recorded,
                     int64_t max_differences) {
  const auto is_copy = [](const Element& element) { return element.is_copy; };
  const auto n_copies =
      static_cast<uint64_t>(std::count_if(replayed.begin(), replayed.end(), is_copy) +
                            std::count_if(recorded.begin(), recorded.end(), is_copy));
  // A path through the band has at most twice the differences. Where the sum does not fit, copies
  // cost nothing.
  const uint64_t most = 2 * static_cast<uint64_t>(max_differences) + 2;
  if ((n_copies + 1) * most + n_copies >= kNoPath) return;
  kernel_ = static_cast<uint32_t>(n_copies + 1);
  copy_ = 1;
}

void PlacementVotes::Match(size_t i, size_t r) {
  const auto position = static_cast<uint32_t>(r);
  if (first_[i] == kUnmatched) {
    first_[i] = position;
    return;
  }
  if (SamePlace(first_[i], position)) {
    first_[i] = std::min(first_[i], position);
    return;
  }
  flags_[i] |= kSeveral;
  if (second_[i] == kUnmatched) second_[i] = position;
  if (!SamePlace(second_[i], position)) flags_[i] |= kMoreThanTwo;
}

bool PlacementVotes::AnyOfTwo() const {
  return std::find(flags_.begin(), flags_.end(), kSeveral) != flags_.end();
}

void PlacementVotes::Narrow(const PlacementVotes& fewer) {
  for (size_t i = 0; i < flags_.size(); ++i) {
    if (flags_[i] != kSeveral || fewer.Place(i) == kUnmatched) continue;
    first_[i] = fewer.first_[i];
    flags_[i] = 0;
  }
}

}  // namespace layerscope::replay

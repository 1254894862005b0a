#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "src/replay/sequence_alignment.h"

namespace layerscope::replay {

/// The cost of a path that does not exist.
inline constexpr uint32_t kNoPath = std::numeric_limits<uint32_t>::max();

/// What it costs that only one side has an element: first the kernels count, then the copies.
class SkipCosts {
 public:
  SkipCosts() = default;
  SkipCosts(std::span<const Element> replayed, std::span<const Element> recorded,
            int64_t max_differences);

  uint32_t Of(const Element& element) const { return element.is_copy ? copy_ : kernel_; }
  /// Kernels in a path of this cost.
  int64_t Kernels(uint32_t cost) const { return cost / kernel_; }

 private:
  uint32_t kernel_ = 1;
  uint32_t copy_ = 0;
};

/// How many more kernels the replayed side may be ahead of the recorded one, anywhere on a path.
struct DifferenceBand {
  int64_t lowest = 0;   ///< at most 0
  int64_t highest = 0;  ///< at least 0
};

/// What the best ways of laying one sequence over another do with each replayed element.
class PlacementVotes {
 public:
  PlacementVotes() = default;
  PlacementVotes(size_t n, Places places)
      : places_(places), first_(n, kUnmatched), second_(n, kUnmatched), flags_(n, 0) {}

  /// A best way matches element `i` with recorded position `r`.
  void Match(size_t i, size_t r);
  /// A best way leaves element `i` out.
  void Skip(size_t i) { flags_[i] |= kSkipped; }

  /// Is there an element that every best way matches, with one of two places?
  bool AnyOfTwo() const;
  /// Takes the places of such elements from `fewer`, the votes of some of the best ways, where
  /// these agree.
  void Narrow(const PlacementVotes& fewer);

  bool CanMatch(size_t i) const { return first_[i] != kUnmatched; }
  /// The recorded position; kUnmatched: none, or it is not certain.
  uint32_t Place(size_t i) const { return flags_[i] == 0 ? first_[i] : kUnmatched; }

 private:
  static constexpr uint8_t kSkipped = 1;
  static constexpr uint8_t kSeveral = 2;
  static constexpr uint8_t kMoreThanTwo = 4;

  bool SamePlace(uint32_t a, uint32_t b) const {
    return places_.empty() ? a == b : places_[a] == places_[b];
  }

  Places places_;
  std::vector<uint32_t> first_;   // the first position of a place that fits
  std::vector<uint32_t> second_;  // one of another place
  std::vector<uint8_t> flags_;
};

}  // namespace layerscope::replay

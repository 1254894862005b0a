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
  PlacementVotes(size_t n, Places places) : places_(places), first_(n, kUnmatched), flags_(n, 0) {}

  /// A best way matches element `i` with recorded position `r`.
  void Match(size_t i, size_t r);
  /// A best way leaves element `i` out.
  void Skip(size_t i) { flags_[i] |= kSkipped; }

  bool CanMatch(size_t i) const { return first_[i] != kUnmatched; }
  /// The recorded position; kUnmatched: none, or it is not certain.
  uint32_t Place(size_t i) const { return flags_[i] == 0 ? first_[i] : kUnmatched; }

 private:
  static constexpr uint8_t kSkipped = 1;
  static constexpr uint8_t kSeveral = 2;

  Places places_;
  std::vector<uint32_t> first_;  // a position that fits
  std::vector<uint8_t> flags_;
};

}  // namespace layerscope::replay

#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace layerscope::replay {

inline constexpr uint32_t kUnmatched = std::numeric_limits<uint32_t>::max();

/// One element of a sequence. Elements match when their symbols are equal; the caller interns
/// kernel names (or what stands for them) of both sides into one symbol space.
struct Element {
  uint32_t symbol = 0;
  uint32_t lane = 0;     ///< replayed side: stream; order holds within a lane, not between lanes
  bool is_copy = false;  ///< copies and sets may be absent on either side and shift nothing
  uint32_t chain = 0;    ///< recorded side: elements of equal chain were put on one stream and no
                         ///< event lies between them, so that they stay on one lane; 0: not known
};

/// A replayed sequence laid over a recorded one, in order.
struct SequenceMatch {
  /// By replayed position: the recorded position, or kUnmatched. Unmatched are elements that only
  /// the replay has, and those whose place is not certain: something is missing beside them and
  /// several recorded positions would fit equally well.
  std::vector<uint32_t> recorded_of;
  int64_t n_matched = 0;        ///< kernels (copies are not counted anywhere here)
  int64_t n_uncertain = 0;      ///< kernels with several equally good places
  int64_t n_only_replayed = 0;  ///< kernels without any
  int64_t n_only_recorded = 0;  ///< recorded kernels that no replayed one stands for
  int64_t n_differences = 0;    ///< kernels that only one side has; 0: the sequences agree
  bool aligned = false;         ///< false: too different, or too many ways to tell
  int64_t work = 0;             ///< cells of tables that were filled, about
};

/// Which differences of place matter: recorded positions of equal `place` (same module call and op)
/// are as good as one another, so that an element that may be either is certain. Empty: each its
/// own.
using Places = std::span<const uint32_t>;

/// Lays `replayed` over `recorded`, both in order; a replay on several lanes is any interleaving of
/// them. Of all ways to do so those with the fewest kernels on one side alone count, then those
/// with the fewest copies alone; an element is matched when all of them give it the same place.
/// Where lanes leave an element two places, and ways that keep every chain on one lane are among
/// the best, it is matched when all of these agree.
/// Differences are tolerated up to `max_differences` kernels (beyond it everything is unmatched).
/// O((n + m) * differences) on one lane (after Ukkonen, "Algorithms for Approximate String
/// Matching", 1985); on several the states that the lanes can reach, up to a million.
SequenceMatch AlignSequences(std::span<const Element> replayed, std::span<const Element> recorded,
                             Places places, size_t max_differences);

/// The share of replayed kernels that must align for a recording to be used (formats/kineto.md,
/// "Withholding").
inline constexpr double kEnoughAligned = 0.98;

}  // namespace layerscope::replay

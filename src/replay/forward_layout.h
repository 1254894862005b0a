#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace layerscope::replay {

/// A piece of a recording that a graph launch may be, and what speaks against it.
struct PieceCandidate {
  uint32_t recording = 0;
  uint32_t piece = 0;
  int64_t cost = 0;
};

/// One graph launch of a sequence of them.
struct LaunchChoices {
  std::vector<PieceCandidate> candidates;  ///< by (recording, piece)
  int64_t none_cost = 0;                   ///< of leaving it out
};

inline constexpr uint32_t kNoPiece = UINT32_MAX;

/// What the cheapest ways to read a sequence of launches as forwards say of one launch.
struct LaunchLayout {
  uint32_t chosen = kNoPiece;       ///< index into its candidates; kNoPiece: none
  std::vector<uint32_t> also_best;  ///< other candidates, in another way as cheap
};

/// Where a forward may begin or end in the middle: at the first and the last launch of a sequence
/// that the window may have cut, for this cost (in units of `cost`). Between two launches it may
/// not: what begins or ends there is no forward of that recording.
struct WindowCuts {
  bool at_first = false;
  bool at_last = false;
  int64_t cost = 0;
};

/// Reads launches, in order, as forwards: after piece p of a recording comes its piece p + 1, after
/// the last one any first piece. `n_pieces` by recording. Linear in the number of candidates.
std::vector<LaunchLayout> LayForwards(std::span<const LaunchChoices* const> launches,
                                      std::span<const uint32_t> n_pieces, const WindowCuts& cuts);

}  // namespace layerscope::replay

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "src/replay/piece_fit.h"

namespace layerscope::replay {

/// What was found for one launch of a group; `capture` < 0: nothing.
struct Finding {
  int64_t capture = -1;
  uint32_t piece = 0;
  const PieceFit* fit = nullptr;
  std::string reason;    ///< why nothing was found; empty: nothing was given
  int64_t nearest = -1;  ///< the capture that `reason` speaks of
};

/// Where the forward that begins at `begin` ends: launches of pieces that follow each other.
inline size_t ForwardEnd(std::span<const Finding> found, size_t begin) {
  size_t end = begin + 1;
  while (end < found.size() && found[begin].capture >= 0 &&
         found[end].capture == found[begin].capture &&
         found[end].piece == found[end - 1].piece + 1) {
    ++end;
  }
  return end;
}

}  // namespace layerscope::replay

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/replay/recorded_names.h"
#include "src/replay/replayed_sequence.h"

namespace layerscope::replay {

/// How a graph launch lies over a piece.
struct PieceFit {
  std::vector<uint32_t> node_of;  ///< by position of RowsByLane: node of the piece, or kUnmatched
  int64_t kernels = 0;            ///< replayed
  int64_t matched = 0;
  int64_t uncertain = 0;    ///< replayed kernels that fit several places equally well
  int64_t missing = 0;      ///< recorded kernels that no replayed one stands for
  int64_t differences = 0;  ///< kernels that only one side has
  int64_t agreeing = 0;     ///< matched kernels that more than their number speaks for
  int64_t work = 0;         ///< what it took to find out, in cells of tables
  bool possible = false;    ///< false: nothing worth counting agrees
  std::string reason;       ///< why it is not possible, where the counts do not say it
};

/// Why a piece is not possible where too much work was done before.
inline constexpr const char* kTooManyNear = "too many captures come near it to compare them all";

/// The fewest differences that the names of the kernels allow, whatever their order.
int64_t LeastDifferences(const ReplayedSequence& replayed, const RecordedSequence& recorded);

/// By the names of the kernels, which the piece has. `only_equal`: what takes work is not tried.
PieceFit FitByName(const ReplayedSequence& replayed, const RecordedSequence& recorded,
                   bool only_equal = false);

/// The share of a recording's kernels that may be missing in the replay; 12 % and more were seen.
inline constexpr double kMostMissing = 0.25;

}  // namespace layerscope::replay

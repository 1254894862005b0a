#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/replay/recording.h"
#include "src/replay/replayed_graph.h"
#include "src/replay/sequence_alignment.h"
#include "src/trace/trace.h"

namespace layerscope::replay {

/// Symbols of copies and sets, whatever their driver calls them; names are numbered below.
inline constexpr uint32_t kCopySymbol = kUnmatched - 1;
inline constexpr uint32_t kSetSymbol = kUnmatched - 2;
/// Of a recorded kernel whose launch does not name it: no name of either side is numbered so.
inline constexpr uint32_t kUnnamed = kUnmatched - 3;

/// A kernel that copies or sets memory is a copy in one trace and a kernel in another
/// (formats/kineto.md): what the name says, kKernel for all other kernels.
NodeKind KindOfName(std::string_view kernel_name);

/// A piece as the alignment reads it.
struct RecordedSequence {
  std::vector<Element> elements;
  std::vector<uint32_t> places;  ///< equal: the same module call, and an op that is called the same
  std::vector<uint32_t> sorted;  ///< symbols of the kernels
  int64_t n_kernels = 0;
};

/// The activities of a graph launch as the alignment reads them, lane by lane.
struct ReplayedSequence {
  std::vector<Element> elements;
  std::vector<trace::StringId> names;
  std::vector<uint32_t> sorted;  ///< symbols of the kernels
  int64_t n_kernels = 0;
  bool one_lane = true;
};

ReplayedSequence ReadReplayed(const trace::Trace& trace, const GraphLaunch& launch);

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

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace layerscope::analysis {

/// The stretch of time that a timeline shows, in bins of equal length (the last may be shorter).
struct TimelineRange {
  int64_t from_ns = 0;
  int64_t to_ns = 0;   ///< not before from_ns; to_ns - from_ns fits into 64 bits
  int64_t bin_ns = 1;  ///< at least 1
  int64_t BinOf(int64_t time_ns) const { return (time_ns - from_ns) / bin_ns; }
  /// True when a part of [start, end) is shown; an instant counts where it lies.
  bool Shows(int64_t start_ns, int64_t end_ns) const {
    return start_ns < to_ns && (end_ns > from_ns || start_ns >= from_ns);
  }
};

/// One interval of one lane, cut to the range. `source` is the caller's: which interval it is.
struct TimelineMark {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t lane = 0;
  uint32_t source = 0;
};

/// What is drawn: one interval, or several short ones that start in the same bin.
struct TimelineSlice {
  uint32_t lane = 0;
  uint32_t source = 0;  ///< of several the longest, of those the first
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t n = 0;
  int64_t busy_ns = 0;  ///< length of the union
};

/// Parts of a lane's strip for people.
inline constexpr size_t kTimelineCells = 40;

/// What a lane has in the range.
struct LaneUse {
  int64_t n = 0;
  int64_t busy_ns = 0;
  std::array<int64_t, kTimelineCells> cell_busy_ns{};  ///< of kTimelineCells equal parts
};

/// Length of one of the kTimelineCells parts of the range, at least 1.
int64_t TimelineCellNs(const TimelineRange& range);

struct TimelineSlices {
  std::vector<TimelineSlice> slices;  ///< by lane, then start
  std::vector<LaneUse> lanes;         ///< by lane
};

/// Draws the marks of `n_lanes` lanes. Of one lane those shorter than a bin that start in the same
/// bin are one slice, and so are longer ones that start in the same bin (they overlap): a lane has
/// at most two slices a bin, whatever the marks.
TimelineSlices DrawTimeline(std::vector<TimelineMark> marks, size_t n_lanes,
                            const TimelineRange& range);

}  // namespace layerscope::analysis

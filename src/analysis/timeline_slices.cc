#include "src/analysis/timeline_slices.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "src/analysis/interval_union.h"

namespace layerscope::analysis {
namespace {

/// Marks by (lane, start, source). Those of a lane come by start from most files, so that lanes are
/// dealt out first and sorted only where they need it.
std::vector<TimelineMark> ByLaneAndStart(const std::vector<TimelineMark>& marks, size_t n_lanes) {
  std::vector<size_t> next(n_lanes + 1, 0);
  for (const TimelineMark& mark : marks) ++next[mark.lane + 1];
  for (size_t lane = 0; lane < n_lanes; ++lane) next[lane + 1] += next[lane];
  const std::vector<size_t> begin = next;
  std::vector<TimelineMark> sorted(marks.size());
  for (const TimelineMark& mark : marks) sorted[next[mark.lane]++] = mark;
  const auto before = [](const TimelineMark& a, const TimelineMark& b) {
    return std::tie(a.start_ns, a.source) < std::tie(b.start_ns, b.source);
  };
  for (size_t lane = 0; lane < n_lanes; ++lane) {
    const auto first = sorted.begin() + static_cast<std::ptrdiff_t>(begin[lane]);
    const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(begin[lane + 1]);
    if (!std::is_sorted(first, last, before)) std::sort(first, last, before);
  }
  return sorted;
}

/// A slice that may still grow, of one lane and one bin.
class OpenSlice {
 public:
  bool open() const { return slice_.has_value(); }
  void Add(const TimelineMark& mark) {
    const int64_t dur_ns = mark.end_ns - mark.start_ns;
    if (!slice_) {
      slice_ = TimelineSlice{mark.lane, mark.source, mark.start_ns, mark.end_ns, 0, 0};
      longest_ns_ = dur_ns;
      busy_ = IntervalUnion();
    }
    if (dur_ns > longest_ns_) {
      longest_ns_ = dur_ns;
      slice_->source = mark.source;
    }
    slice_->end_ns = std::max(slice_->end_ns, mark.end_ns);
    ++slice_->n;
    busy_.Add(mark.start_ns, dur_ns);
  }
  TimelineSlice Take() {
    TimelineSlice slice = *slice_;
    slice.busy_ns = busy_.busy_ns();
    slice_.reset();
    return slice;
  }
  int64_t start_ns() const { return slice_->start_ns; }

 private:
  std::optional<TimelineSlice> slice_;
  int64_t longest_ns_ = 0;
  IntervalUnion busy_;
};

/// Takes the marks of one lane after the other, each by start.
class Drawer {
 public:
  Drawer(const TimelineRange& range, size_t n_lanes)
      : range_(range), cell_ns_(TimelineCellNs(range)) {
    result_.lanes.resize(n_lanes);
  }

  void Add(const TimelineMark& mark) {
    const int64_t bin = range_.BinOf(mark.start_ns);
    if (mark.lane != lane_ || bin != bin_) Flush();
    if (mark.lane != lane_) covered_to_ns_ = range_.from_ns;
    lane_ = mark.lane;
    bin_ = bin;
    (mark.end_ns - mark.start_ns < range_.bin_ns ? short_ : long_).Add(mark);
    AddUse(mark);
  }

  TimelineSlices Take() {
    Flush();
    return std::move(result_);
  }

 private:
  void Flush() {
    const bool long_first = short_.open() && long_.open() && long_.start_ns() < short_.start_ns();
    OpenSlice& first = long_first ? long_ : short_;
    OpenSlice& second = long_first ? short_ : long_;
    if (first.open()) result_.slices.push_back(first.Take());
    if (second.open()) result_.slices.push_back(second.Take());
  }

  void AddUse(const TimelineMark& mark) {
    LaneUse& use = result_.lanes[mark.lane];
    ++use.n;
    int64_t start_ns = std::max(mark.start_ns, covered_to_ns_);
    if (start_ns >= mark.end_ns) return;
    covered_to_ns_ = mark.end_ns;
    use.busy_ns += mark.end_ns - start_ns;
    while (start_ns < mark.end_ns) {
      const int64_t cell = (start_ns - range_.from_ns) / cell_ns_;
      // The part's end may lie beyond 64 bits; what is left of the mark does not.
      const int64_t in_cell_ns = cell_ns_ - (start_ns - range_.from_ns) % cell_ns_;
      const int64_t part_ns = std::min(in_cell_ns, mark.end_ns - start_ns);
      use.cell_busy_ns[static_cast<size_t>(cell)] += part_ns;
      start_ns += part_ns;
    }
  }

  const TimelineRange& range_;
  int64_t cell_ns_;
  uint32_t lane_ = UINT32_MAX;
  int64_t bin_ = 0;
  int64_t covered_to_ns_ = 0;
  OpenSlice short_;
  OpenSlice long_;
  TimelineSlices result_;
};

}  // namespace

int64_t TimelineCellNs(const TimelineRange& range) {
  const int64_t span_ns = range.to_ns - range.from_ns;
  const auto n = static_cast<int64_t>(kTimelineCells);
  return std::max<int64_t>(span_ns / n + (span_ns % n != 0 ? 1 : 0), 1);
}

TimelineSlices DrawTimeline(std::vector<TimelineMark> marks, size_t n_lanes,
                            const TimelineRange& range) {
  const std::vector<TimelineMark> sorted = ByLaneAndStart(marks, n_lanes);
  marks = {};
  Drawer drawer(range, n_lanes);
  for (const TimelineMark& mark : sorted) drawer.Add(mark);
  return drawer.Take();
}

}  // namespace layerscope::analysis

#include "src/analysis/overhead_sweep.h"

#include <algorithm>
#include <array>
#include <limits>

namespace layerscope::analysis {
namespace {

/// What an activity does, what hides the others first.
constexpr std::array<OverheadLine, 3> kBusyLines = {
    OverheadLine::kCompute, OverheadLine::kExposedComm, OverheadLine::kMemcpy};
constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

}  // namespace

OverheadSweep::OverheadSweep(std::span<const StepWindow> windows,
                             const MergedIntervals& annotations)
    : windows_(windows),
      annotations_(annotations),
      lines_(windows.size()),
      now_ns_(std::numeric_limits<int64_t>::min()) {
  for (const OverheadLine line : kBusyLines) busy_until_[line] = now_ns_;
}

void OverheadSweep::Add(const SweptActivity& activity) {
  AdvanceTo(activity.start_ns, &activity);
  started_ = true;
  busy_until_[activity.line] = std::max(busy_until_[activity.line], activity.end_ns);
}

std::vector<LineSums> OverheadSweep::Finish() {
  AdvanceTo(kForever, nullptr);
  return std::move(lines_);
}

/// No activity begins in [now, to): what runs now runs on until its end, and then the GPU idles.
void OverheadSweep::AdvanceTo(int64_t to_ns, const SweptActivity* next) {
  for (const OverheadLine line : kBusyLines) {
    const int64_t end_ns = std::min(busy_until_[line], to_ns);
    if (end_ns <= now_ns_) continue;
    AddTo(line, now_ns_, end_ns);
    now_ns_ = end_ns;
  }
  if (next != nullptr && now_ns_ < to_ns) AddIdle(now_ns_, to_ns, *next);
  now_ns_ = to_ns;
}

void OverheadSweep::AddIdle(int64_t from_ns, int64_t to_ns, const SweptActivity& next) {
  if (!next.has_launch) {
    AddTo(OverheadLine::kUnexplained, from_ns, to_ns);
    return;
  }
  // Before the first activity no idle time has begun that a launch could have come before.
  if (started_ && (next.after_own_graph || next.launch_end_ns <= from_ns)) {
    AddTo(OverheadLine::kQueuedGap, from_ns, to_ns);
    return;
  }
  CutAtWindows(from_ns, to_ns, [&](size_t window, int64_t from, int64_t to) {
    AddIdleOfHost(window, from, to, next);
  });
}

void OverheadSweep::AddIdleOfHost(size_t window, int64_t from_ns, int64_t to_ns,
                                  const SweptActivity& next) {
  LineSums& lines = lines_[window];
  const auto add_other = [&](int64_t from, int64_t to) {
    annotations_.Cut(from, to, [&](int64_t part_from, int64_t part_to, bool in_step) {
      lines[in_step ? OverheadLine::kLaunchGap : OverheadLine::kBetweenSteps] +=
          part_to - part_from;
    });
  };
  if (next.waits == nullptr) {
    add_other(from_ns, to_ns);
    return;
  }
  next.waits->Cut(from_ns, to_ns, [&](int64_t from, int64_t to, bool waits) {
    if (waits) {
      lines[OverheadLine::kHostWait] += to - from;
    } else {
      add_other(from, to);
    }
  });
}

template <typename OnPart>
void OverheadSweep::CutAtWindows(int64_t from_ns, int64_t to_ns, OnPart on_part) {
  while (at_ < windows_.size() && windows_[at_].to_ns <= from_ns) ++at_;
  for (size_t i = at_; i < windows_.size() && windows_[i].from_ns < to_ns; ++i) {
    const int64_t from = std::max(from_ns, windows_[i].from_ns);
    const int64_t to = std::min(to_ns, windows_[i].to_ns);
    if (from < to) on_part(i, from, to);
  }
}

void OverheadSweep::AddTo(OverheadLine line, int64_t from_ns, int64_t to_ns) {
  CutAtWindows(from_ns, to_ns,
               [&](size_t window, int64_t from, int64_t to) { lines_[window][line] += to - from; });
}

}  // namespace layerscope::analysis

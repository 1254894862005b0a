#include "src/analysis/idle_causes.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "src/analysis/blocking_calls.h"
#include "src/analysis/merged_intervals.h"
#include "src/attribution/lane_order.h"
#include "src/attribution/step.h"

namespace layerscope::analysis {
namespace {

using attribution::Intervals;

/// A host that launches op by op leaves gaps shorter than this between kernels (an eager op with
/// recorded stacks takes 50 to 150 us); a longer gap has a cause of its own.
constexpr int64_t kLongGapNs = 200'000;
/// The longest gaps are looked into; the rest counts as launching.
constexpr size_t kMostGaps = 4096;
/// Devices with the most idle time that are looked into.
constexpr size_t kMostDevices = 16;
constexpr size_t kListedGaps = 5;
/// Rows met in gaps before the search gives up: only a file of absurd nesting gets there.
constexpr int64_t kMostMeetings = 50'000'000;

/// What is known of a gap while the host's tables are read.
struct OpenGap {
  ExplainedGap found;
  int64_t wait_ns = 0;      ///< how much of it the longest waiting call covers
  trace::StringId wait;     ///< that call
  int64_t other_start = 0;  ///< of the innermost call, op or annotation that covers most
  trace::StringId other;
  int64_t op_start = 0;  ///< of the innermost op or annotation that covers most
  trace::StringId op;
  int64_t step_start = 0;
  int64_t n_calls = 0;   ///< that start in it, of all threads
  int64_t n_starts = 0;  ///< calls and ops that start in it, of all threads
};

/// By StringId: 1 for the names of step annotations, engines' and profilers'.
std::vector<uint8_t> StepNames(const trace::Trace& trace) {
  std::vector<uint8_t> known(trace.strings.size(), 0);  // 1 = no, 2 = yes
  for (const trace::StringId name : trace.annotations.name) {
    uint8_t& mark = known[name.index()];
    if (mark != 0) continue;
    const attribution::StepFamily family = attribution::ParseStepName(trace.strings[name]).family;
    const bool is_step =
        family != attribution::StepFamily::kNone && family != attribution::StepFamily::kCapture;
    mark = is_step ? 2 : 1;
  }
  for (uint8_t& mark : known) mark = mark == 2 ? 1 : 0;
  return known;
}

/// The time inside of steps' annotations.
MergedIntervals UnionOfSteps(const trace::Trace& trace, const std::vector<uint8_t>& is_step) {
  const trace::Annotations& rows = trace.annotations;
  const Intervals intervals{rows.start_ns, rows.dur_ns};
  MergedIntervals steps;
  for (uint32_t row = 0; row < rows.size(); ++row) {
    if (rows.is_gpu[row] != 0 || is_step[rows.name[row].index()] == 0) continue;
    steps.Add(intervals.Start(row), intervals.End(row));
  }
  steps.Freeze();
  return steps;
}

int64_t Overlap(const IdleGap& a, const IdleGap& b) {
  return std::max<int64_t>(0, std::min(a.end_ns, b.end_ns) - std::max(a.start_ns, b.start_ns));
}

/// A search in the steps a gap, so that many devices do not walk over all steps each.
int64_t OverlapOf(const std::vector<IdleGap>& gaps, const MergedIntervals& steps) {
  int64_t sum_ns = 0;
  for (const IdleGap& gap : gaps) sum_ns += steps.CoveredNs(gap.start_ns, gap.end_ns);
  return sum_ns;
}

/// The gap that holds a time, for times that mostly rise.
class GapFinder {
 public:
  explicit GapFinder(const std::vector<IdleGap>& gaps) : gaps_(gaps) {}
  bool Holds(int64_t t_ns) {
    if (gaps_.empty()) return false;
    if (gaps_[at_].start_ns > t_ns || (at_ + 1 < gaps_.size() && gaps_[at_ + 1].start_ns <= t_ns)) {
      const auto after = std::partition_point(
          gaps_.begin(), gaps_.end(), [t_ns](const IdleGap& gap) { return gap.start_ns <= t_ns; });
      at_ = after == gaps_.begin() ? 0 : static_cast<size_t>(after - gaps_.begin()) - 1;
    }
    return gaps_[at_].start_ns <= t_ns && t_ns < gaps_[at_].end_ns;
  }
  size_t at() const { return at_; }

 private:
  const std::vector<IdleGap>& gaps_;
  size_t at_ = 0;
};

/// The long gaps of one device and what the host does in them.
class GapExplainer {
 public:
  GapExplainer(const RankView& view, const std::vector<uint8_t>& is_step, const DeviceIdle& idle)
      : view_(view), is_step_(is_step), idle_(idle), launches_(view.trace().threads.size(), 0) {
    ChooseGaps();
    if (open_.empty()) return;
    MarkLaunchingThreads();
    const trace::Trace& trace = view.trace();
    std::vector<uint8_t> waits(trace.strings.size(), 0);
    for (const trace::StringId name : trace.calls.name) {
      uint8_t& mark = waits[name.index()];  // 1 = no, 2 = yes
      if (mark == 0) mark = MayBlock(trace.strings[name]) ? 2 : 1;
    }
    Meet(trace.calls, [&](OpenGap& gap, uint32_t row, int64_t covered_ns) {
      const trace::StringId name = trace.calls.name[row];
      if (waits[name.index()] == 2 && covered_ns > gap.wait_ns) {
        gap.wait_ns = covered_ns;
        gap.wait = name;
      }
      KeepInnermost(gap.other, gap.other_start, name, trace.calls.start_ns[row]);
    });
    Meet(trace.ops, [&](OpenGap& gap, uint32_t row, int64_t) { MeetHost(gap, trace.ops, row); });
    Meet(trace.annotations, [&](OpenGap& gap, uint32_t row, int64_t) {
      if (trace.annotations.is_gpu[row] == 0) MeetHost(gap, trace.annotations, row);
    });
    Count(trace.calls, [](OpenGap& gap) {
      ++gap.n_calls;
      ++gap.n_starts;
    });
    Count(trace.ops, [](OpenGap& gap) { ++gap.n_starts; });
  }

  std::vector<ExplainedGap> Take() {
    std::vector<ExplainedGap> gaps;
    for (OpenGap& gap : open_) gaps.push_back(Conclude(gap));
    return gaps;
  }

 private:
  void ChooseGaps() {
    for (const IdleGap& gap : idle_.gaps()) {
      if (gap.length_ns() >= kLongGapNs) chosen_.push_back(gap);
    }
    if (chosen_.size() > kMostGaps) {
      std::nth_element(chosen_.begin(), chosen_.begin() + kMostGaps, chosen_.end(),
                       [](const IdleGap& a, const IdleGap& b) {
                         return std::pair(-a.length_ns(), a.start_ns) <
                                std::pair(-b.length_ns(), b.start_ns);
                       });
      chosen_.resize(kMostGaps);
      std::sort(chosen_.begin(), chosen_.end(),
                [](const IdleGap& a, const IdleGap& b) { return a.start_ns < b.start_ns; });
    }
    shortest_ns_ = chosen_.empty() ? 0 : chosen_.front().length_ns();
    for (const IdleGap& gap : chosen_) {
      shortest_ns_ = std::min(shortest_ns_, gap.length_ns());
      OpenGap open;
      open.found.device = idle_.device();
      open.found.gap = gap;
      open_.push_back(open);
    }
  }

  void MarkLaunchingThreads() {
    const attribution::Attribution& attr = view_.attribution();
    bool any = false;
    for (uint32_t row = 0; row < view_.activities().size(); ++row) {
      const trace::ThreadId thread = attr.thread[row];
      if (!thread.valid() || view_.DeviceOf(row) != idle_.device()) continue;
      launches_[thread.index()] = 1;
      any = true;
    }
    if (!any) std::fill(launches_.begin(), launches_.end(), 1);
  }

  /// Calls `meet(gap, row, covered)` for each row of a launching thread that covers half of a gap
  /// or more. Such a row holds the gap's middle, which is what is searched for.
  template <typename Rows, typename OnMeet>
  void Meet(const Rows& rows, OnMeet meet) {
    const Intervals intervals{rows.start_ns, rows.dur_ns};
    for (uint32_t row = 0; row < rows.size(); ++row) {
      if (rows.dur_ns[row] < shortest_ns_ / 2 || launches_[rows.thread[row].index()] == 0) continue;
      const IdleGap span{intervals.Start(row), intervals.End(row)};
      auto at = std::partition_point(open_.begin(), open_.end(), [&](const OpenGap& gap) {
        return gap.found.gap.middle_ns() < span.start_ns;
      });
      for (; at != open_.end() && at->found.gap.middle_ns() < span.end_ns; ++at) {
        if (++n_meetings_ > kMostMeetings) return;
        const int64_t covered_ns = Overlap(at->found.gap, span);
        if (covered_ns >= at->found.gap.length_ns() / 2) meet(*at, row, covered_ns);
      }
    }
  }

  /// Keeps the name that started last: the innermost.
  static void KeepInnermost(trace::StringId& name, int64_t& start_ns, trace::StringId new_name,
                            int64_t new_start_ns) {
    if (name.valid() && new_start_ns < start_ns) return;
    name = new_name;
    start_ns = new_start_ns;
  }

  template <typename Rows>
  void MeetHost(OpenGap& gap, const Rows& rows, uint32_t row) {
    const trace::StringId name = rows.name[row];
    if (is_step_[name.index()] != 0) {
      KeepInnermost(gap.found.step, gap.step_start, name, rows.start_ns[row]);
      return;
    }
    KeepInnermost(gap.op, gap.op_start, name, rows.start_ns[row]);
    KeepInnermost(gap.other, gap.other_start, name, rows.start_ns[row]);
  }

  template <typename Rows, typename AddTo>
  void Count(const Rows& rows, AddTo add) {
    GapFinder finder(chosen_);
    for (uint32_t row = 0; row < rows.size(); ++row) {
      if (is_step_[rows.name[row].index()] == 0 && finder.Holds(rows.start_ns[row])) {
        add(open_[finder.at()]);
      }
    }
  }

  static ExplainedGap Conclude(OpenGap& gap) {
    ExplainedGap found = gap.found;
    // What covers a run of launches ("## backward ##") is a frame around them, no cause.
    const bool is_busy = gap.n_calls >= found.gap.length_ns() / kLongGapNs;
    if (gap.wait.valid()) {
      found.kind = IdleKind::kWait;
      found.name = gap.wait;
      found.op = gap.op;
    } else if (gap.other.valid() && !is_busy) {
      found.kind = IdleKind::kHost;
      found.name = gap.other;
    } else if (gap.n_starts > 0) {
      found.kind = IdleKind::kLaunching;
    } else {
      found.kind = found.step.valid() ? IdleKind::kSilent : IdleKind::kPause;
    }
    return found;
  }

  const RankView& view_;
  const std::vector<uint8_t>& is_step_;
  const DeviceIdle& idle_;
  std::vector<uint8_t> launches_;  ///< by thread: 1 = it launches on this device
  std::vector<IdleGap> chosen_;    ///< by time
  std::vector<OpenGap> open_;      ///< one for each of `chosen_`
  int64_t shortest_ns_ = 0;
  int64_t n_meetings_ = 0;
};

/// The idle time of devices that the selection uses, most idle first.
std::vector<const DeviceIdle*> ChosenDevices(const RankView& view,
                                             const std::vector<DeviceIdle>& idle) {
  std::vector<uint8_t> used(view.trace().devices.size(), 0);
  for (const uint32_t row : view.rows()) {
    if (const trace::DeviceId device = view.DeviceOf(row); device.valid()) used[device.index()] = 1;
  }
  std::vector<const DeviceIdle*> chosen;
  for (const DeviceIdle& device : idle) {
    if (device.device().valid() && used[device.device().index()] != 0) chosen.push_back(&device);
  }
  std::stable_sort(chosen.begin(), chosen.end(), [](const DeviceIdle* a, const DeviceIdle* b) {
    return a->total_ns() > b->total_ns();
  });
  return chosen;
}

std::vector<IdleCause> Aggregate(const std::vector<ExplainedGap>& gaps, IdleCause rest) {
  std::map<std::tuple<IdleKind, size_t, size_t>, size_t> known;
  std::vector<IdleCause> causes;
  for (const ExplainedGap& gap : gaps) {
    const auto [at, is_new] =
        known.try_emplace({gap.kind, gap.name.valid() ? gap.name.index() + 1 : 0,
                           gap.op.valid() ? gap.op.index() + 1 : 0},
                          causes.size());
    if (is_new) causes.push_back({gap.kind, gap.name, gap.op, 0, 0, gap});
    IdleCause& cause = causes[at->second];
    cause.ns += gap.gap.length_ns();
    ++cause.n_gaps;
    if (gap.gap.length_ns() > cause.largest.gap.length_ns()) cause.largest = gap;
    rest.ns -= gap.gap.length_ns();
    --rest.n_gaps;
  }
  if (rest.n_gaps > 0) {
    const auto launching = std::find_if(causes.begin(), causes.end(), [](const IdleCause& cause) {
      return cause.kind == IdleKind::kLaunching;
    });
    if (launching == causes.end()) {
      causes.push_back(rest);
    } else {
      launching->ns += rest.ns;
      launching->n_gaps += rest.n_gaps;
    }
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [](const IdleCause& a, const IdleCause& b) { return a.ns > b.ns; });
  return causes;
}

}  // namespace

std::string_view ToString(IdleKind kind) {
  constexpr std::array<std::string_view, 5> kNames = {"wait", "host", "launching", "silent",
                                                      "pause"};
  return kNames[static_cast<size_t>(kind)];
}

int64_t IdleReport::Sum(IdleKind kind) const {
  int64_t sum_ns = 0;
  for (const IdleCause& cause : causes) {
    if (cause.kind == kind) sum_ns += cause.ns;
  }
  return sum_ns;
}

IdleReport ExplainIdle(const RankView& view, const std::vector<DeviceIdle>& idle) {
  const trace::Trace& trace = view.trace();
  const std::vector<uint8_t> is_step = StepNames(trace);
  const MergedIntervals steps = UnionOfSteps(trace, is_step);
  IdleReport report;
  report.has_host = trace.calls.size() + trace.ops.size() > 0;
  std::vector<ExplainedGap> gaps;
  const std::vector<const DeviceIdle*> devices = ChosenDevices(view, idle);
  for (size_t i = 0; i < devices.size(); ++i) {
    const DeviceIdle& device = *devices[i];
    report.idle_ns += device.total_ns();
    report.n_gaps += static_cast<int64_t>(device.gaps().size());
    report.in_steps_ns += OverlapOf(device.gaps(), steps);
    if (i >= kMostDevices) continue;
    GapFinder finder(device.gaps());
    for (const int64_t start_ns : trace.calls.start_ns) report.n_calls += finder.Holds(start_ns);
    const std::vector<ExplainedGap> found = GapExplainer(view, is_step, device).Take();
    gaps.insert(gaps.end(), found.begin(), found.end());
  }
  IdleCause rest;
  rest.ns = report.idle_ns;
  rest.n_gaps = report.n_gaps;
  report.causes = Aggregate(gaps, rest);
  std::stable_sort(gaps.begin(), gaps.end(), [](const ExplainedGap& a, const ExplainedGap& b) {
    return a.gap.length_ns() > b.gap.length_ns();
  });
  gaps.resize(std::min(gaps.size(), kListedGaps));
  report.largest = std::move(gaps);
  return report;
}

}  // namespace layerscope::analysis

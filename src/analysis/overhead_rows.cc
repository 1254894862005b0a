#include "src/analysis/overhead_rows.h"

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <utility>

#include "src/analysis/blocking_calls.h"
#include "src/analysis/communication.h"
#include "src/analysis/interval_union.h"
#include "src/analysis/overhead_sweep.h"
#include "src/base/check.h"
#include "src/base/checked_sum.h"

namespace layerscope::analysis {
namespace {

using trace::ActivityKind;

/// The activities of a trace by process and start; those of no known process stand apart.
struct ProcessRows {
  struct Key {
    int64_t start_ns;
    uint32_t process;
    uint32_t row;
  };
  std::vector<Key> keys;
  int64_t n_left_out = 0;
  int64_t left_out_ns = 0;

  std::span<const Key> Of(uint32_t process) const {
    const auto before = [](const Key& key, uint32_t wanted) { return key.process < wanted; };
    const auto first = std::lower_bound(keys.begin(), keys.end(), process, before);
    const auto last = std::lower_bound(first, keys.end(), process + 1, before);
    return {first, last};
  }
};

ProcessRows CollectRows(const RankView& view, const std::optional<std::string>& device) {
  std::vector<uint8_t> wanted(view.trace().devices.size(), 1);
  if (device) {
    for (size_t i = 0; i < wanted.size(); ++i) {
      wanted[i] = view.trace().DeviceText(trace::DeviceId(i)) == *device ? 1 : 0;
    }
  }
  const std::vector<trace::ProcessId>& hosts = view.processes().hosts;
  const trace::Activities& activities = view.activities();
  ProcessRows rows;
  rows.keys.reserve(activities.size());
  for (uint32_t row = 0; row < activities.size(); ++row) {
    const trace::DeviceId at = view.DeviceOf(row);
    if (device && (!at.valid() || wanted[at.index()] == 0)) continue;
    trace::ProcessId process = view.attribution().host_process[row];
    if (!process.valid() && hosts.size() == 1) process = hosts.front();
    if (process.valid()) {
      rows.keys.push_back({activities.start_ns[row], static_cast<uint32_t>(process.index()), row});
    } else {
      ++rows.n_left_out;
      rows.left_out_ns += activities.dur_ns[row];
    }
  }
  std::sort(rows.keys.begin(), rows.keys.end(), [](const auto& a, const auto& b) {
    return std::tie(a.process, a.start_ns, a.row) < std::tie(b.process, b.start_ns, b.row);
  });
  return rows;
}

/// By thread, when it is in a synchronising call.
std::vector<MergedIntervals> FindWaits(const trace::Trace& trace) {
  std::vector<uint8_t> synchronises(trace.strings.size(), 0);  // 1 = no, 2 = yes
  std::vector<MergedIntervals> waits(trace.threads.size());
  const trace::Calls& calls = trace.calls;
  for (size_t call = 0; call < calls.size(); ++call) {
    uint8_t& mark = synchronises[calls.name[call].index()];
    if (mark == 0) mark = IsSynchronisingCall(trace.strings[calls.name[call]]) ? 2 : 1;
    if (mark == 1) continue;
    waits[calls.thread[call].index()].Add(
        calls.start_ns[call], base::AddClamped(calls.start_ns[call], calls.dur_ns[call]));
  }
  for (MergedIntervals& of_thread : waits) of_thread.Freeze();
  return waits;
}

class OverheadBuilder {
 public:
  OverheadBuilder(const RankView& view, const std::optional<std::string>& device)
      : view_(view),
        attr_(view.attribution()),
        rows_(CollectRows(view, device)),
        waits_(FindWaits(view.trace())),
        seen_launch_(view.trace().calls.size(), 0),
        all_(attr_.steps.size()),
        busy_(attr_.steps.size()),
        completions_(attr_.steps.size()) {}

  OverheadRows Build() {
    AddMembers();
    std::vector<std::vector<uint32_t>> steps_of(view_.trace().processes.size());
    for (uint32_t step = 0; step < all_.size(); ++step) {
      const trace::ProcessId process = view_.ProcessOfStep(step);
      if (process.valid()) steps_of[process.index()].push_back(step);
    }
    for (uint32_t process = 0; process < steps_of.size(); ++process) {
      if (!steps_of[process].empty()) Distribute(process, steps_of[process]);
    }
    OverheadRows result;
    for (const StepCompletion& step : completions_) {
      result.any_completion |= step.last_ns.has_value();
    }
    result.rows = TakeSelected();
    result.n_left_out = rows_.n_left_out;
    result.left_out_ns = rows_.left_out_ns;
    return result;
  }

 private:
  /// What each step launched. A step's activities are of one process, so they come by start.
  void AddMembers() {
    const trace::Activities& activities = view_.activities();
    for (const ProcessRows::Key& key : rows_.keys) {
      const attribution::StepId step = attr_.step[key.row];
      if (!step.valid()) continue;
      const int64_t dur_ns = std::max<int64_t>(activities.dur_ns[key.row], 0);
      std::optional<int64_t>& last_ns = completions_[step.index()].last_ns;
      last_ns = std::max(last_ns.value_or(key.start_ns), key.start_ns + dur_ns);
      busy_[step.index()].Add(key.start_ns, dur_ns);
      OverheadRow& row = all_[step.index()];
      ++row.n_activities;
      if (activities.kind[key.row] == ActivityKind::kGraph) ++row.n_whole_graphs;
      if (activities.kind[key.row] != ActivityKind::kKernel) continue;
      ++row.n_kernels;
      if (attr_.under_graph[key.row] != 0) ++row.n_graph_kernels;
    }
  }

  void Distribute(uint32_t process, const std::vector<uint32_t>& steps) {
    std::vector<StepCompletion> completions;
    MergedIntervals annotations;
    for (const uint32_t step : steps) {
      const attribution::Step& source = attr_.steps[step];
      completions_[step].start_ns = source.start_ns;
      completions.push_back(completions_[step]);
      annotations.Add(source.start_ns, base::AddClamped(source.start_ns, source.dur_ns));
    }
    annotations.Freeze();
    const std::vector<StepWindow> windows = BuildStepWindows(completions);
    OverheadSweep sweep(windows, annotations);
    for (const ProcessRows::Key& key : rows_.Of(process)) sweep.Add(Swept(key));
    const std::vector<LineSums> lines = sweep.Finish();
    const auto first = std::find_if(completions.begin(), completions.end(),
                                    [](const StepCompletion& step) { return step.last_ns; });
    if (first != completions.end()) {
      all_[steps[static_cast<size_t>(first - completions.begin())]].is_first = true;
    }
    for (size_t i = 0; i < steps.size(); ++i) {
      LS_CHECK(lines[i].total_ns() == windows[i].wall_ns(),
               "a step's lines do not sum to its wall");
      OverheadRow& row = all_[steps[i]];
      row.from_ns = windows[i].from_ns;
      row.wall_ns = windows[i].wall_ns();
      row.lines = lines[i];
    }
  }

  OverheadLine LineOf(uint32_t row) const {
    switch (view_.activities().kind[row]) {
      case ActivityKind::kMemcpy:
      case ActivityKind::kMemset:
        return OverheadLine::kMemcpy;
      case ActivityKind::kKernel:
        if (IsCommunication(view_, row)) return OverheadLine::kExposedComm;
        break;
      case ActivityKind::kGraph:
      case ActivityKind::kCpu:
        break;
    }
    return OverheadLine::kCompute;
  }

  SweptActivity Swept(const ProcessRows::Key& key) {
    SweptActivity activity;
    activity.start_ns = key.start_ns;
    activity.end_ns = key.start_ns + std::max<int64_t>(view_.activities().dur_ns[key.row], 0);
    activity.line = LineOf(key.row);
    const trace::CallId launch = attr_.launch[key.row];
    activity.has_launch = launch.valid();
    if (!launch.valid()) return activity;
    const trace::Calls& calls = view_.trace().calls;
    activity.launch_end_ns =
        base::AddClamped(calls.start_ns[launch.index()], calls.dur_ns[launch.index()]);
    activity.waits = &waits_[calls.thread[launch.index()].index()];
    const bool seen = std::exchange(seen_launch_[launch.index()], uint8_t{1}) != 0;
    activity.after_own_graph = seen && attr_.under_graph[key.row] != 0;
    return activity;
  }

  /// The selected steps rise, so that they move to the front in place.
  std::vector<OverheadRow> TakeSelected() {
    const std::vector<uint32_t>& steps = view_.steps();
    for (size_t i = 0; i < steps.size(); ++i) {
      all_[i] = all_[steps[i]];
      Describe(steps[i], all_[i]);
    }
    all_.resize(steps.size());
    return std::move(all_);
  }

  void Describe(uint32_t step, OverheadRow& row) const {
    const attribution::Step& source = attr_.steps[step];
    row.step = step;
    row.index = view_.StepLabel(step);
    row.name = view_.trace().strings[source.name];
    row.phase = source.fields.phase;
    row.requests = source.fields.requests;
    row.place = PlaceAt(view_, view_.ProcessOfStep(step));
    row.start_ns = source.start_ns;
    row.host_wall_ns = source.dur_ns;
    row.busy_ns = busy_[step].busy_ns();
  }

  const RankView& view_;
  const attribution::Attribution& attr_;
  const ProcessRows rows_;
  const std::vector<MergedIntervals> waits_;  ///< by thread
  std::vector<uint8_t> seen_launch_;          ///< by call: 1 = one of its activities is swept
  std::vector<OverheadRow> all_;              ///< by step
  std::vector<IntervalUnion> busy_;           ///< by step
  std::vector<StepCompletion> completions_;   ///< by step
};

}  // namespace

OverheadRows BuildOverheadRows(const RankView& view, const std::optional<std::string>& device) {
  return OverheadBuilder(view, device).Build();
}

}  // namespace layerscope::analysis

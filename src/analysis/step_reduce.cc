#include "src/analysis/step_reduce.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "src/analysis/row_table.h"
#include "src/table/or_null.h"

namespace layerscope::analysis {
namespace {

struct ReducedStep {
  Place place;  ///< the recording alone
  int64_t index = 0;
  std::string phase;
  int64_t n_ranks = 0;
  RankMeasure cpu_ns, wall_ns, busy_ns, idle_ns, gpu_idle_ns, sum_ns, n_kernels;
};

/// A step of one rank: its devices' times added up, but for what runs beside each other.
struct RankStep {
  const StepRow* first = nullptr;
  bool has_activities = false;
  int64_t wall_ns = 0;  ///< the longest of its devices
  int64_t busy_ns = 0, idle_ns = 0, gpu_idle_ns = 0, sum_ns = 0, n_kernels = 0;

  void Add(const StepRow& row) {
    if (first == nullptr) first = &row;
    busy_ns += row.busy_ns;
    sum_ns += row.sum_ns;
    n_kernels += row.n_kernels;
    if (!row.has_activities) return;
    has_activities = true;
    wall_ns = std::max(wall_ns, row.wall_ns());
    idle_ns += row.idle_ns();
    gpu_idle_ns += row.gpu_idle_ns;
  }
};

std::vector<ReducedStep> Collect(const std::vector<StepRow>& rows) {
  std::map<std::tuple<std::string_view, int64_t, size_t, LabelValue, LabelValue>, RankStep> ranks;
  for (const StepRow& row : rows) {
    const Place& place = row.place;
    ranks[{place.recording, row.index, place.input, place.rank, place.pid}].Add(row);
  }
  std::vector<ReducedStep> steps;
  for (const auto& [key, rank] : ranks) {
    const std::string_view recording = rank.first->place.recording;
    if (steps.empty() || steps.back().index != rank.first->index ||
        steps.back().place.recording != recording) {
      steps.emplace_back();
      steps.back().place.recording = recording;
      steps.back().index = rank.first->index;
      steps.back().phase = rank.first->phase;
    }
    ReducedStep& step = steps.back();
    ++step.n_ranks;
    step.cpu_ns.Add(rank.first->cpu_ns);
    step.busy_ns.Add(rank.busy_ns);
    step.sum_ns.Add(rank.sum_ns);
    step.n_kernels.Add(rank.n_kernels);
    if (!rank.has_activities) continue;
    step.wall_ns.Add(rank.wall_ns);
    step.idle_ns.Add(rank.idle_ns);
    step.gpu_idle_ns.Add(rank.gpu_idle_ns);
  }
  return steps;
}

}  // namespace

table::Table ReduceSteps(const std::vector<StepRow>& rows, RankReduce how) {
  std::vector<ReducedStep> steps = Collect(rows);
  const bool recordings = std::any_of(steps.begin(), steps.end(), [](const ReducedStep& step) {
    return !step.place.recording.empty();
  });
  RowTable<ReducedStep> table(std::move(steps));
  if (recordings) AddRecording(&ReducedStep::place, table);
  table.AddInt({.name = "index"}, &ReducedStep::index)
      .Add({.name = "phase"},
           [](const ReducedStep& step) -> table::Cell {
             if (step.phase.empty()) return table::Null();
             return std::string_view(step.phase);
           })
      .AddInt(Count("n_ranks", "ranks"), &ReducedStep::n_ranks);
  const auto reduced = [how](RankMeasure ReducedStep::*measure) {
    return [how, measure](const ReducedStep& step) {
      return table::CellOrNull((step.*measure).Reduced(how));
    };
  };
  table.Add(Nanoseconds("cpu_ns", "host"), reduced(&ReducedStep::cpu_ns))
      .Add(Nanoseconds("wall_ns", "wall"), reduced(&ReducedStep::wall_ns))
      .Add(Nanoseconds("busy_ns", "busy"), reduced(&ReducedStep::busy_ns))
      .Add(ForMachines(Nanoseconds("idle_ns", {})), reduced(&ReducedStep::idle_ns))
      .Add(Nanoseconds("gpu_idle_ns", "idle"), reduced(&ReducedStep::gpu_idle_ns))
      .Add(Nanoseconds("sum_ns", "sum"), reduced(&ReducedStep::sum_ns))
      .Add(Count("n_kernels", "kernels"), reduced(&ReducedStep::n_kernels));
  return table.Take();
}

}  // namespace layerscope::analysis

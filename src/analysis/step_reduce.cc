#include "src/analysis/step_reduce.h"

#include <algorithm>
#include <map>

#include "src/analysis/row_table.h"
#include "src/base/format_number.h"

namespace layerscope::analysis {
namespace {

/// One measure of a step over the ranks that have it.
class Measure {
 public:
  void Add(int64_t value) {
    sum_ += value;
    max_ = n_ == 0 ? value : std::max(max_, value);
    ++n_;
  }
  table::Cell Reduced(RankReduce how) const {
    if (n_ == 0) return table::Null();
    switch (how) {
      case RankReduce::kSum:
        return sum_;
      case RankReduce::kMax:
        return max_;
      case RankReduce::kMean:
        return base::DivideHalfEven(sum_, n_);
    }
    return table::Null();
  }

 private:
  int64_t n_ = 0;
  int64_t sum_ = 0;
  int64_t max_ = 0;
};

struct ReducedStep {
  int64_t index = 0;
  std::string phase;
  int64_t n_ranks = 0;
  Measure cpu_ns, wall_ns, busy_ns, idle_ns, gpu_idle_ns, sum_ns, n_kernels;
};

std::vector<ReducedStep> Collect(const std::vector<StepRow>& rows) {
  std::map<int64_t, ReducedStep> by_index;
  for (const StepRow& row : rows) {
    ReducedStep& step = by_index[row.index];
    step.index = row.index;
    if (step.n_ranks == 0) step.phase = row.phase;
    ++step.n_ranks;
    step.cpu_ns.Add(row.cpu_ns);
    step.busy_ns.Add(row.busy_ns);
    step.sum_ns.Add(row.sum_ns);
    step.n_kernels.Add(row.n_kernels);
    if (!row.has_activities) continue;
    step.wall_ns.Add(row.wall_ns());
    step.idle_ns.Add(row.idle_ns());
    step.gpu_idle_ns.Add(row.gpu_idle_ns);
  }
  std::vector<ReducedStep> steps;
  for (auto& [index, step] : by_index) steps.push_back(std::move(step));
  return steps;
}

}  // namespace

const std::vector<std::string>& RankReduceNames() {
  static const std::vector<std::string> kNames = {"sum", "max", "mean"};
  return kNames;
}

table::Table ReduceSteps(const std::vector<StepRow>& rows, RankReduce how) {
  RowTable<ReducedStep> table(Collect(rows));
  table.AddInt({.name = "index"}, &ReducedStep::index)
      .Add({.name = "phase"},
           [](const ReducedStep& step) -> table::Cell {
             if (step.phase.empty()) return table::Null();
             return std::string_view(step.phase);
           })
      .AddInt(Count("n_ranks", "ranks"), &ReducedStep::n_ranks);
  const auto reduced = [how](Measure ReducedStep::*measure) {
    return [how, measure](const ReducedStep& step) { return (step.*measure).Reduced(how); };
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

#include "src/analysis/overhead_reduce.h"

#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "src/analysis/overhead_medians.h"
#include "src/analysis/overhead_table.h"
#include "src/analysis/row_table.h"
#include "src/table/or_null.h"

namespace layerscope::analysis {
namespace {

struct ReducedStep {
  int64_t index = 0;
  attribution::Phase phase = attribution::Phase::kUnknown;
  std::optional<int64_t> requests;
  int64_t n_ranks = 0;
  RankMeasure wall_ns, host_wall_ns, busy_ns, gap_ns, n_kernels;
  std::array<RankMeasure, kOverheadLines> lines;
};

std::vector<ReducedStep> Collect(const std::vector<OverheadRow>& rows) {
  std::map<int64_t, ReducedStep> by_index;
  for (const OverheadRow& row : rows) {
    ReducedStep& step = by_index[row.index];
    step.index = row.index;
    if (step.n_ranks == 0) {
      step.phase = row.phase;
      step.requests = row.requests;
    }
    ++step.n_ranks;
    step.wall_ns.Add(row.wall_ns);
    step.host_wall_ns.Add(row.host_wall_ns);
    step.busy_ns.Add(row.busy_ns);
    step.gap_ns.Add(row.gap().ns());
    step.n_kernels.Add(row.n_kernels);
    for (const OverheadLine line : kAllOverheadLines) {
      step.lines[static_cast<size_t>(line)].Add(row.lines[line]);
    }
  }
  std::vector<ReducedStep> steps;
  steps.reserve(by_index.size());
  for (auto& [index, step] : by_index) steps.push_back(std::move(step));
  return steps;
}

/// Null where a line does not fit.
table::Cell LineMap(const ReducedStep& step, RankReduce how) {
  table::CellMap map;
  for (const OverheadLine line : kAllOverheadLines) {
    const std::optional<int64_t> ns = step.lines[static_cast<size_t>(line)].Reduced(how);
    if (!ns) return table::Null();
    map.emplace_back(std::string(ToString(line)), *ns);
  }
  return map;
}

}  // namespace

table::Table ReduceOverhead(const std::vector<OverheadRow>& rows, RankReduce how) {
  RowTable<ReducedStep> table(Collect(rows));
  const auto reduced = [how](RankMeasure ReducedStep::*measure) {
    return [how, measure](const ReducedStep& step) {
      return table::CellOrNull((step.*measure).Reduced(how));
    };
  };
  table.AddInt({.name = "index", .title = "step"}, &ReducedStep::index)
      .Add({.name = "phase"},
           [](const ReducedStep& step) -> table::Cell {
             const std::string_view phase = attribution::ToString(step.phase);
             if (phase.empty()) return table::Null();
             return phase;
           })
      .Add(Count("requests", "reqs", 3),
           [](const ReducedStep& step) { return table::CellOrNull(step.requests); })
      .AddInt(Count("n_ranks", "ranks"), &ReducedStep::n_ranks)
      .Add(Nanoseconds("wall_ns", "wall"), reduced(&ReducedStep::wall_ns))
      .Add(ForMachines({.name = "lines"}),
           [how](const ReducedStep& step) { return LineMap(step, how); });
  const LineSums sums = SumOf(rows);
  for (const OverheadLine line : kAllOverheadLines) {
    table.Add(LineColumn(line, sums),
              [how, line, is_used = sums[line] > 0](const ReducedStep& step) -> table::Cell {
                if (!is_used) return table::Null();
                return table::CellOrNull(step.lines[static_cast<size_t>(line)].Reduced(how));
              });
  }
  table.Add(Nanoseconds("host_wall_ns", "annotation", 5), reduced(&ReducedStep::host_wall_ns))
      .Add(Nanoseconds("busy_ns", "busy", 5), reduced(&ReducedStep::busy_ns))
      .Add(ForMachines(Nanoseconds("gap_ns", {})), reduced(&ReducedStep::gap_ns))
      .Add(Count("n_kernels", "kernels", 4), reduced(&ReducedStep::n_kernels));
  return table.Take();
}

table::Object ReducedOverhead(const std::vector<OverheadRow>& rows, std::optional<RankReduce> how) {
  table::Object reduced;
  if (how) {
    reduced.emplace_back("rank_reduce", RankReduceNames()[static_cast<size_t>(*how)]);
    reduced.emplace_back("steps", ReduceOverhead(rows, *how));
  }
  reduced.emplace_back("median", MedianTable(SummariseOverhead(rows).medians));
  return reduced;
}

}  // namespace layerscope::analysis

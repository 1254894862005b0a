#include "src/analysis/overhead_medians.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "src/analysis/median.h"

namespace layerscope::analysis {
namespace {

auto GroupOf(const OverheadRow& row) {
  return std::tuple(row.phase, row.requests, GroupMode(row));
}

/// The median of a number over some rows.
template <typename Number>
int64_t MedianOf(const std::vector<OverheadRow>& rows, std::span<const size_t> group,
                 Number number) {
  std::vector<int64_t> values;
  values.reserve(group.size());
  for (const size_t row : group) values.push_back(number(rows[row]));
  return LowerMedian(std::move(values));
}

OverheadMedian Summarise(const std::vector<OverheadRow>& rows, std::span<const size_t> group) {
  OverheadMedian median;
  median.phase = rows[group.front()].phase;
  median.requests = rows[group.front()].requests;
  median.launch_mode = GroupMode(rows[group.front()]);
  median.n_steps = static_cast<int64_t>(group.size());
  const auto of = [&](auto number) { return MedianOf(rows, group, number); };
  median.wall_ns = of([](const OverheadRow& row) { return row.wall_ns; });
  median.host_wall_ns = of([](const OverheadRow& row) { return row.host_wall_ns; });
  median.gap_ns = of([](const OverheadRow& row) { return row.gap().ns(); });
  median.busy_ns = of([](const OverheadRow& row) { return row.busy_ns; });
  median.n_kernels = of([](const OverheadRow& row) { return row.n_kernels; });
  for (const OverheadLine line : kAllOverheadLines) {
    median.lines[line] = of([line](const OverheadRow& row) { return row.lines[line]; });
    for (const size_t row : group) {
      median.sums[line] = base::AddClamped(median.sums[line], rows[row].lines[line]);
    }
  }
  return median;
}

void AddWorst(const std::vector<OverheadRow>& rows, std::span<const size_t> group,
              const OverheadMedian& median, std::vector<WorstStep>& worst) {
  for (const size_t index : group) {
    const OverheadRow& row = rows[index];
    if (row.wall_ns <= median.wall_ns) continue;
    WorstStep step{index, row.wall_ns - median.wall_ns, OverheadLine::kCompute, 0};
    for (const OverheadLine line : kAllOverheadLines) {
      const int64_t over_ns = row.lines[line] - median.lines[line];
      if (over_ns <= step.line_over_ns) continue;
      step.line = line;
      step.line_over_ns = over_ns;
    }
    worst.push_back(step);
  }
}

void KeepWorst(std::vector<WorstStep>& worst) {
  const auto n = static_cast<std::ptrdiff_t>(std::min(worst.size(), kWorstSteps));
  std::partial_sort(worst.begin(), worst.begin() + n, worst.end(),
                    [](const WorstStep& a, const WorstStep& b) {
                      return std::tie(b.over_ns, a.row) < std::tie(a.over_ns, b.row);
                    });
  worst.resize(static_cast<size_t>(n));
}

}  // namespace

OverheadSummary SummariseOverhead(const std::vector<OverheadRow>& rows) {
  std::vector<size_t> order;
  for (size_t row = 0; row < rows.size(); ++row) {
    if (rows[row].wall_ns > 0) order.push_back(row);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&rows](size_t a, size_t b) { return GroupOf(rows[a]) < GroupOf(rows[b]); });
  OverheadSummary summary;
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && GroupOf(rows[order[end]]) == GroupOf(rows[order[begin]])) ++end;
    const std::span<const size_t> group(order.data() + begin, end - begin);
    summary.medians.push_back(Summarise(rows, group));
    AddWorst(rows, group, summary.medians.back(), summary.worst);
    begin = end;
  }
  KeepWorst(summary.worst);
  std::stable_sort(summary.medians.begin(), summary.medians.end(),
                   [](const OverheadMedian& a, const OverheadMedian& b) {
                     return a.sum_wall_ns() > b.sum_wall_ns();
                   });
  return summary;
}

}  // namespace layerscope::analysis

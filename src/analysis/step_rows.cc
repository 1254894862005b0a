#include "src/analysis/step_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "src/analysis/interval_union.h"
#include "src/base/check.h"
#include "src/base/format_number.h"

namespace layerscope::analysis {
namespace {

/// What is being summed of one step on the device at hand.
struct Pending {
  TimeSpan span;
  IntervalUnion busy;
  size_t row = 0;
};

class StepRowBuilder {
 public:
  StepRowBuilder(const RankView& view, StepScope scope)
      : view_(view), attr_(view.attribution()), scope_(scope), pending_(attr_.steps.size()) {}

  StepRows Build() {
    const std::vector<uint32_t> rows = view_.RowsByDeviceAndStart();
    AddActivities(rows);
    for (const uint32_t step : view_.steps()) {
      if (pending_[step].row == 0) result_.rows.push_back(StartRow(step));
    }
    std::stable_sort(result_.rows.begin(), result_.rows.end(),
                     [](const StepRow& a, const StepRow& b) { return a.step < b.step; });
    AddIdle(rows);
    CountOverlaps();
    Check();
    return std::move(result_);
  }

 private:
  StepRow StartRow(uint32_t step) const {
    const attribution::Step& source = attr_.steps[step];
    const trace::Trace& trace = view_.trace();
    StepRow row;
    row.step = step;
    row.index = view_.StepLabel(step);
    row.name = trace.strings[source.name];
    row.phase = attribution::ToString(source.fields.phase);
    row.fields = source.fields;
    row.start_ns = source.start_ns;
    row.cpu_ns = source.dur_ns;
    row.n_launches = source.n_launches;
    row.whole = scope_ == StepScope::kWhole;
    row.place = PlaceAt(view_, view_.ProcessOfStep(step));
    if (view_.cpu_only()) row.place.device = view_.DeviceLabel({});
    if (source.thread.valid()) {
      row.thread = view_.LabelOf(trace.threads[source.thread.index()].tid);
    }
    return row;
  }

  /// Rows come by device and start; `row` in Pending is 1 + the row of the device at hand.
  void AddActivities(const std::vector<uint32_t>& rows) {
    trace::DeviceId device;
    bool first = true;
    for (const uint32_t row : rows) {
      const trace::DeviceId at = view_.DeviceOf(row);
      if (!first && at != device) FinishDevice();
      first = false;
      device = at;
      AddActivity(row, device);
    }
    FinishDevice();
  }

  void AddActivity(uint32_t row, trace::DeviceId device) {
    const int64_t start_ns = view_.activities().start_ns[row];
    const int64_t dur_ns = view_.activities().dur_ns[row];
    const int64_t kernels = view_.IsKernel(row) ? 1 : 0;
    const attribution::StepId step = attr_.step[row];
    if (!step.valid()) {
      result_.outside.gpu_ns += dur_ns;
      result_.outside.kernels += kernels;
      result_.outside.activities += view_.CountOf(row);
      return;
    }
    Pending& pending = pending_[step.index()];
    if (pending.row <= n_finished_) {
      result_.rows.push_back(StartRow(static_cast<uint32_t>(step.index())));
      result_.rows.back().place.device = view_.DeviceLabel(device);
      result_.rows.back().device = device;
      pending = Pending();
      pending.row = result_.rows.size();
    }
    pending.span.Add(start_ns, dur_ns);
    pending.busy.Add(start_ns, dur_ns);
    StepRow& sums = result_.rows[pending.row - 1];
    sums.sum_ns += dur_ns;
    sums.n_kernels += kernels;
    if (attr_.under_graph[row] != 0) sums.n_graph_kernels += kernels;
    if (view_.activities().kind[row] == trace::ActivityKind::kGraph) ++sums.n_whole_graphs;
    sums.n_activities += view_.CountOf(row);
    sums.evidence_ns[static_cast<size_t>(attr_.module_evidence[row])] += dur_ns;
  }

  /// Looks at the steps of this device alone: there may be as many devices as steps.
  void FinishDevice() {
    for (size_t i = n_finished_; i < result_.rows.size(); ++i) {
      StepRow& row = result_.rows[i];
      const Pending& pending = pending_[row.step];
      row.has_activities = true;
      row.first_ns = pending.span.first_ns();
      row.last_ns = pending.span.last_ns();
      row.busy_ns = pending.busy.busy_ns();
    }
    n_finished_ = result_.rows.size();
  }

  void AddIdle(const std::vector<uint32_t>& rows) {
    result_.idle = FindIdle(view_, rows);
    for (StepRow& row : result_.rows) {
      if (!row.has_activities) continue;
      const auto idle = std::partition_point(
          result_.idle.begin(), result_.idle.end(),
          [&](const DeviceIdle& device) { return device.device().index() < row.device.index(); });
      row.gpu_idle_ns = idle->IdleIn(row.first_ns, row.last_ns);
    }
  }

  void CountOverlaps() {
    std::vector<const StepRow*> rows;
    for (const StepRow& row : result_.rows) {
      if (row.has_activities) rows.push_back(&row);
    }
    std::stable_sort(rows.begin(), rows.end(), [](const StepRow* a, const StepRow* b) {
      return std::pair(a->device.index(), a->first_ns) < std::pair(b->device.index(), b->first_ns);
    });
    int64_t last_ns = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      const bool same_device = i > 0 && rows[i]->device == rows[i - 1]->device;
      if (same_device && rows[i]->first_ns < last_ns) ++result_.n_overlaps;
      last_ns = same_device ? std::max(last_ns, rows[i]->last_ns) : rows[i]->last_ns;
    }
  }

  void Check() const {
    int64_t sum_ns = result_.outside.gpu_ns;
    for (const StepRow& row : result_.rows) sum_ns += row.sum_ns;
    LS_CHECK(sum_ns == view_.total_ns(), "steps and outside do not add up to the total");
  }

  const RankView& view_;
  const attribution::Attribution& attr_;
  StepScope scope_;
  std::vector<Pending> pending_;
  size_t n_finished_ = 0;
  StepRows result_;
};

}  // namespace

std::optional<int64_t> StepRow::tokens() const {
  if (fields.query_tokens) return fields.query_tokens;
  if (!fields.context_tokens && !fields.generation_tokens) return std::nullopt;
  return fields.context_tokens.value_or(0) + fields.generation_tokens.value_or(0);
}

std::optional<int64_t> StepRow::ns_per_token() const {
  const std::optional<int64_t> n = tokens();
  if (!whole || !has_activities || !n || *n <= 0) return std::nullopt;
  return base::DivideHalfEven(wall_ns(), *n);
}

StepScope ScopeOf(const Selection& selection) {
  const bool cuts = selection.passes || selection.layer || selection.module || selection.stream ||
                    selection.from_ns || selection.to_ns || selection.without_communication;
  return cuts ? StepScope::kCut : StepScope::kWhole;
}

std::string StepCountText(const RankView& view) {
  std::map<trace::ProcessId, int64_t> n_of;
  for (const uint32_t step : view.steps()) ++n_of[view.ProcessOfStep(step)];
  const auto n = static_cast<int64_t>(view.steps().size());
  if (n_of.size() < 2) return base::FormatCounted(n, "step");
  const int64_t first = n_of.begin()->second;
  const bool alike = std::all_of(n_of.begin(), n_of.end(),
                                 [first](const auto& entry) { return entry.second == first; });
  const std::string_view what = PlacesToShow(view).rank ? "ranks" : "processes";
  return fmt::format("{} on {}{} {}", base::FormatCounted(alike ? first : n, "step"),
                     alike ? "each of " : "", n_of.size(), what);
}

StepRows BuildStepRows(const RankView& view, StepScope scope) {
  return StepRowBuilder(view, scope).Build();
}

}  // namespace layerscope::analysis

#include "src/document/requests/figures.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "src/analysis/compiled_regions.h"
#include "src/analysis/interval_union.h"
#include "src/analysis/step_rows.h"
#include "src/attribution/steps.h"
#include "src/base/checked_sum.h"
#include "src/layers/layer_structure.h"

namespace layerscope::document {
namespace {

using analysis::RankView;
using attribution::Phase;

/// An interval of a host thread.
struct HostInterval {
  trace::ThreadId thread;
  int64_t start_ns = 0;
  int64_t dur_ns = 0;
  bool is_module = false;
};

std::vector<HostInterval> HostIntervals(const RankView& view) {
  const trace::Trace& trace = view.trace();
  const std::vector<trace::ScopeId>& parents = view.attribution().modules.parent_of_scope;
  std::vector<HostInterval> intervals;
  intervals.reserve(trace.ops.size());
  for (size_t i = 0; i < trace.scopes.size(); ++i) {
    if (parents[i].valid()) continue;
    intervals.push_back(
        {trace.scopes.thread[i], trace.scopes.start_ns[i], trace.scopes.dur_ns[i], true});
  }
  for (size_t i = 0; i < trace.ops.size(); ++i) {
    intervals.push_back({trace.ops.thread[i], trace.ops.start_ns[i], trace.ops.dur_ns[i], false});
  }
  std::sort(intervals.begin(), intervals.end(), [](const HostInterval& a, const HostInterval& b) {
    if (a.thread != b.thread) return a.thread.index() < b.thread.index();
    return a.start_ns < b.start_ns;
  });
  return intervals;
}

/// Time of the host by the phase of the step in which it begins.
struct HostTime {
  int64_t ops_outside_modules_ns = 0;
  std::array<int64_t, kPhaseCount> by_phase{};  ///< calls of the outermost modules included
};

/// What of the outermost ops lies outside of the outermost modules is the time in both together
/// less that in modules, thread by thread.
HostTime HostTimeOf(const RankView& view) {
  attribution::StepLocator steps(view.trace(), view.attribution().steps);
  HostTime time;
  analysis::IntervalUnion all;
  analysis::IntervalUnion modules;
  trace::ThreadId thread;
  for (const HostInterval& interval : HostIntervals(view)) {
    if (interval.thread != thread) all = modules = {};
    thread = interval.thread;
    int64_t outside_ns = -all.busy_ns() + modules.busy_ns();
    all.Add(interval.start_ns, interval.dur_ns);
    if (interval.is_module) modules.Add(interval.start_ns, interval.dur_ns);
    outside_ns += all.busy_ns() - modules.busy_ns();
    time.ops_outside_modules_ns = base::AddClamped(time.ops_outside_modules_ns, outside_ns);
    const attribution::StepId step = steps.Find(thread, interval.start_ns);
    const Phase phase =
        step.valid() ? view.attribution().steps[step.index()].fields.phase : Phase::kUnknown;
    int64_t& sum_ns = time.by_phase[static_cast<size_t>(phase)];
    sum_ns = base::AddClamped(sum_ns, outside_ns + (interval.is_module ? interval.dur_ns : 0));
  }
  return time;
}

int64_t ModuleTime(const RankView& view) {
  int64_t sum_ns = 0;
  for (const attribution::Module& module : view.attribution().modules.modules) {
    if (!module.parent.valid()) sum_ns = base::AddClamped(sum_ns, module.cpu_ns);
  }
  return sum_ns;
}

void AddPhasesOfSteps(const RankView& view, const HostTime& host, RequestFigures& figures) {
  const analysis::StepRows steps = analysis::BuildStepRows(view);
  figures.outside_phases_ns = steps.outside.gpu_ns;
  uint32_t last = std::numeric_limits<uint32_t>::max();
  for (const analysis::StepRow& row : steps.rows) {
    const Phase phase = row.fields.phase;
    if (phase == Phase::kUnknown) {
      figures.outside_phases_ns += row.sum_ns;
      continue;
    }
    PhaseFigures& sums = figures.phases[static_cast<size_t>(phase)];
    sums.gpu_ns += row.sum_ns;
    sums.kernels += row.n_kernels;
    if (row.has_activities) sums.wall_ns = base::AddClamped(sums.wall_ns, row.wall_ns());
    // A step on several devices has a row for each.
    if (row.step == last) continue;
    last = row.step;
    if (sums.steps++ == 0) sums.tokens = 0;
    const std::optional<int64_t> tokens = row.tokens();
    sums.tokens = sums.tokens && tokens
                      ? std::optional<int64_t>(base::AddClamped(*sums.tokens, *tokens))
                      : std::nullopt;
  }
  int64_t outside_ns = figures.cpu_ns;
  for (size_t i = 1; i < figures.phases.size(); ++i) {
    figures.phases[i].cpu_ns = host.by_phase[i];
    outside_ns = base::AddClamped(outside_ns, -host.by_phase[i]);
  }
  figures.outside_phases_cpu_ns = outside_ns;
}

void AddPhasesOfPasses(const RankView& view, const layers::LayerStructure& structure,
                       RequestFigures& figures) {
  std::vector<analysis::TimeSpan> spans(structure.passes.size());
  figures.outside_phases_ns = 0;
  figures.outside_phases_cpu_ns.reset();
  for (const uint32_t row : view.rows()) {
    const layers::PassId pass = structure.pass[row];
    const Phase phase =
        pass.valid() ? PhaseOf(structure.passes[pass.index()].kind) : Phase::kUnknown;
    const int64_t dur_ns = view.activities().dur_ns[row];
    if (phase == Phase::kUnknown) {
      figures.outside_phases_ns += dur_ns;
      continue;
    }
    PhaseFigures& sums = figures.phases[static_cast<size_t>(phase)];
    sums.gpu_ns += dur_ns;
    sums.kernels += view.IsKernel(row) ? 1 : 0;
    spans[pass.index()].Add(view.activities().start_ns[row], dur_ns);
  }
  for (size_t i = 0; i < spans.size(); ++i) {
    const Phase phase = PhaseOf(structure.passes[i].kind);
    if (phase == Phase::kUnknown) continue;
    PhaseFigures& sums = figures.phases[static_cast<size_t>(phase)];
    ++sums.steps;
    sums.wall_ns += spans[i].wall_ns();
  }
}

void AddPhases(const RankView& view, const HostTime& host, RequestFigures& figures) {
  const std::vector<attribution::Step>& steps = view.attribution().steps;
  const auto says = [](const attribution::Step& step) {
    return step.fields.phase != Phase::kUnknown;
  };
  if (std::any_of(steps.begin(), steps.end(), says)) {
    figures.phase_source = "steps";
    return AddPhasesOfSteps(view, host, figures);
  }
  figures.outside_phases_ns = figures.gpu_ns;
  figures.outside_phases_cpu_ns = figures.cpu_ns;
  const layers::LayerStructure* const structure = view.input().layers;
  if (structure == nullptr || view.cpu_only()) return;
  const auto known = [](const layers::Pass& pass) { return PhaseOf(pass.kind) != Phase::kUnknown; };
  if (std::none_of(structure->passes.begin(), structure->passes.end(), known)) return;
  figures.phase_source = "passes";
  AddPhasesOfPasses(view, *structure, figures);
}

}  // namespace

RequestFigures FiguresOf(const RankView& view) {
  RequestFigures figures;
  analysis::TimeSpan span;
  for (const uint32_t row : view.rows()) {
    const int64_t dur_ns = view.activities().dur_ns[row];
    span.Add(view.activities().start_ns[row], dur_ns);
    figures.gpu_ns += dur_ns;
    if (!view.IsKernel(row)) continue;
    figures.kernel_ns += dur_ns;
    ++figures.kernels;
  }
  figures.wall_ns = span.wall_ns();
  const HostTime host = HostTimeOf(view);
  figures.cpu_outside_modules_ns = host.ops_outside_modules_ns;
  figures.cpu_ns = base::AddClamped(ModuleTime(view), figures.cpu_outside_modules_ns);
  AddPhases(view, host, figures);
  return figures;
}

std::string_view ModeOf(const RankView& view) {
  const trace::Trace& trace = view.trace();
  const std::vector<uint8_t>& under_graph = view.attribution().under_graph;
  if (std::find(under_graph.begin(), under_graph.end(), 1) != under_graph.end()) return "compiled";
  if (!analysis::CompiledRegions(trace).empty()) return "compiled";
  return trace.ops.size() == 0 && trace.calls.size() == 0 ? "" : "eager";
}

}  // namespace layerscope::document

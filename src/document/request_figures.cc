#include "src/document/request_figures.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "src/analysis/compiled_regions.h"
#include "src/analysis/interval_union.h"
#include "src/analysis/step_rows.h"
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

/// Time in ops and modules together less the time in modules, thread by thread.
int64_t OpTimeOutsideModules(const RankView& view) {
  analysis::IntervalUnion all;
  analysis::IntervalUnion modules;
  trace::ThreadId thread;
  int64_t sum_ns = 0;
  const auto close = [&] {
    sum_ns = base::AddClamped(sum_ns, all.busy_ns() - modules.busy_ns());
    all = {};
    modules = {};
  };
  for (const HostInterval& interval : HostIntervals(view)) {
    if (interval.thread != thread) close();
    thread = interval.thread;
    all.Add(interval.start_ns, interval.dur_ns);
    if (interval.is_module) modules.Add(interval.start_ns, interval.dur_ns);
  }
  close();
  return sum_ns;
}

int64_t ModuleTime(const RankView& view) {
  int64_t sum_ns = 0;
  for (const attribution::Module& module : view.attribution().modules.modules) {
    if (!module.parent.valid()) sum_ns = base::AddClamped(sum_ns, module.cpu_ns);
  }
  return sum_ns;
}

void AddPhasesOfSteps(const RankView& view, RequestFigures& figures) {
  const analysis::StepRows steps = analysis::BuildStepRows(view);
  figures.outside_phases_ns = view.cpu_only() ? 0 : steps.outside.gpu_ns;
  uint32_t last = std::numeric_limits<uint32_t>::max();
  for (const analysis::StepRow& row : steps.rows) {
    const Phase phase = row.fields.phase;
    const int64_t gpu_ns = view.cpu_only() ? 0 : row.sum_ns;
    if (phase == Phase::kUnknown) {
      figures.outside_phases_ns += gpu_ns;
      continue;
    }
    PhaseFigures& sums = figures.phases[static_cast<size_t>(phase)];
    sums.gpu_ns += gpu_ns;
    sums.kernels += row.n_kernels;
    if (row.has_activities) sums.wall_ns = base::AddClamped(sums.wall_ns, row.wall_ns());
    // A step on several devices has a row for each.
    if (row.step == last) continue;
    last = row.step;
    if (sums.steps++ == 0) sums.tokens = 0;
    sums.cpu_ns = base::AddClamped(sums.cpu_ns.value_or(0), row.cpu_ns);
    const std::optional<int64_t> tokens = row.tokens();
    sums.tokens = sums.tokens && tokens
                      ? std::optional<int64_t>(base::AddClamped(*sums.tokens, *tokens))
                      : std::nullopt;
  }
}

Phase PhaseOf(layers::PassKind kind) {
  switch (kind) {
    case layers::PassKind::kPrefill:
      return Phase::kPrefill;
    case layers::PassKind::kDecode:
      return Phase::kDecode;
    case layers::PassKind::kMixed:
      return Phase::kMixed;
    case layers::PassKind::kDraft:
      return Phase::kDraft;
    case layers::PassKind::kTargetVerify:
      return Phase::kTargetVerify;
    case layers::PassKind::kUnknown:
    case layers::PassKind::kCapture:
      break;
  }
  return Phase::kUnknown;
}

void AddPhasesOfPasses(const RankView& view, const layers::LayerStructure& structure,
                       RequestFigures& figures) {
  std::vector<analysis::TimeSpan> spans(structure.passes.size());
  figures.outside_phases_ns = 0;
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

void AddPhases(const RankView& view, RequestFigures& figures) {
  const std::vector<attribution::Step>& steps = view.attribution().steps;
  const auto says = [](const attribution::Step& step) {
    return step.fields.phase != Phase::kUnknown;
  };
  if (std::any_of(steps.begin(), steps.end(), says)) {
    figures.phase_source = "steps";
    return AddPhasesOfSteps(view, figures);
  }
  figures.outside_phases_ns = figures.gpu_ns;
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
    if (view.cpu_only()) continue;
    figures.gpu_ns += dur_ns;
    if (!view.IsKernel(row)) continue;
    figures.kernel_ns += dur_ns;
    ++figures.kernels;
  }
  figures.wall_ns = span.wall_ns();
  figures.cpu_outside_modules_ns = OpTimeOutsideModules(view);
  figures.cpu_ns = base::AddClamped(ModuleTime(view), figures.cpu_outside_modules_ns);
  AddPhases(view, figures);
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

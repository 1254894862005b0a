#include "src/analysis/summary_facts.h"

#include <algorithm>

#include "src/analysis/module_shape.h"
#include "src/analysis/summary_tree.h"

namespace layerscope::analysis {
namespace {

constexpr size_t kModuleRows = 8;

GpuTimes Add(const std::vector<DeviceRow>& devices) {
  GpuTimes times;
  for (const DeviceRow& device : devices) {
    times.busy_ns += device.busy_ns;
    times.span_ns += device.wall_ns();
    times.sum_ns += device.sum_ns;
  }
  return times;
}

/// The lower of the two middle ones for an even number: a value that occurred.
std::optional<int64_t> Median(std::vector<int64_t> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

PhaseRow SumPhase(const std::vector<StepRow>& rows, const std::string& phase) {
  PhaseRow sums;
  sums.phase = phase;
  std::vector<int64_t> walls;
  std::vector<int64_t> per_token;
  for (const StepRow& row : rows) {
    if (row.phase != phase) continue;
    ++sums.n;
    if (!row.has_activities) continue;
    walls.push_back(row.wall_ns());
    sums.busy_ns += row.busy_ns;
    sums.wall_ns += row.wall_ns();
    if (const std::optional<int64_t> ns = row.ns_per_token()) per_token.push_back(*ns);
  }
  sums.median_wall_ns = Median(std::move(walls));
  sums.median_ns_per_token = Median(std::move(per_token));
  for (const StepRow& row : rows) {
    if (row.phase != phase || !row.has_activities || row.wall_ns() != sums.median_wall_ns) continue;
    sums.requests = row.fields.requests;
    sums.tokens = row.tokens();
    break;
  }
  return sums;
}

std::vector<PhaseRow> SumPhases(const std::vector<StepRow>& rows) {
  std::vector<PhaseRow> phases;
  for (const StepRow& row : rows) {
    const bool known = std::any_of(phases.begin(), phases.end(),
                                   [&](const PhaseRow& phase) { return phase.phase == row.phase; });
    if (!known) phases.push_back(SumPhase(rows, row.phase));
  }
  return phases;
}

}  // namespace

SummaryFacts CollectSummary(const AnalysisInput& input, const RankView& view) {
  SummaryFacts facts;
  facts.engine = GuessEngine(view);
  facts.gpu_name = DeviceNames(view.trace());
  facts.ranks = FindRanks(input);
  facts.devices = BuildDeviceRows(view);
  facts.gpu = Add(facts.devices);
  facts.launches = CountLaunches(view);
  facts.graph = GraphShareOf(view);
  facts.graph_banner = GraphBanner(view);
  facts.tree = BuildModuleNodes(view);
  facts.model = GuessModel(facts.tree.nodes, facts.tree.total_ns);
  const std::vector<ModuleNode> collapsed = CollapseRuns(facts.tree.nodes);
  facts.layers = LayersText(collapsed);
  facts.top_modules = ChooseTopModules(collapsed, facts.tree.total_ns, kModuleRows);
  facts.categories = RankActivities(view, KernelsBy::kCategory, Places::kTogether);
  facts.kernels = RankActivities(view, KernelsBy::kName, Places::kTogether);
  facts.other = OtherText(view);
  const std::string& other = view.rules().category(view.rules().other()).name;
  for (const KernelRow& row : facts.categories) {
    if (row.category == other) facts.other_ns += row.group.sum_ns;
  }
  facts.steps = BuildStepRows(view);
  facts.phases = SumPhases(facts.steps.rows);
  for (const StepRow& row : facts.steps.rows) {
    if (row.has_activities) facts.idle_in_steps_ns += row.idle_ns();
  }
  return facts;
}

}  // namespace layerscope::analysis

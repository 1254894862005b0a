#include "src/analysis/summary_facts.h"

#include <algorithm>
#include <string_view>

#include "src/analysis/compiled_table.h"
#include "src/analysis/median.h"
#include "src/analysis/module_shape.h"
#include "src/analysis/summary_tree.h"
#include "src/base/format_number.h"

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

std::optional<int64_t> Median(std::vector<int64_t> values) {
  if (values.empty()) return std::nullopt;
  return LowerMedian(std::move(values));
}

/// What the step says of its phase: it has the median wall.
void DescribeMedian(const StepRow& row, PhaseRow& sums) {
  sums.requests = row.fields.requests;
  sums.tokens = row.tokens();
  if (row.whole && row.wall_ns() > 0) {
    sums.median_busy_ppm = base::PartsPerMillion(row.wall_ns() - row.gpu_idle_ns, row.wall_ns());
  }
}

void Widen(std::optional<int64_t> value, std::optional<CountRange>& range) {
  if (!value) return;
  if (!range) range = CountRange{*value, *value};
  range->low = std::min(range->low, *value);
  range->high = std::max(range->high, *value);
}

PhaseRow SumPhase(const std::vector<StepRow>& rows, const std::string& phase) {
  PhaseRow sums;
  sums.phase = phase;
  for (const StepRow& row : rows) {
    if (row.phase != phase) continue;
    ++sums.n;
    sums.steps_of[row.place.pid].insert(row.step);
    if (!row.has_activities) continue;
    sums.walls_ns.push_back(row.wall_ns());
    sums.busy_ns += row.busy_ns;
    sums.wall_ns += row.wall_ns();
    Widen(row.fields.requests, sums.requests_range);
    Widen(row.tokens(), sums.tokens_range);
    if (const std::optional<int64_t> ns = row.ns_per_token()) sums.ns_per_token.push_back(*ns);
  }
  std::sort(sums.walls_ns.begin(), sums.walls_ns.end());
  sums.median_wall_ns = Median(sums.walls_ns);
  std::sort(sums.ns_per_token.begin(), sums.ns_per_token.end());
  sums.median_ns_per_token = Median(sums.ns_per_token);
  for (const StepRow& row : rows) {
    if (row.phase != phase || !row.has_activities || row.wall_ns() != sums.median_wall_ns) continue;
    DescribeMedian(row, sums);
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

/// `text` without the digits at its end.
std::string_view WithoutNumber(std::string_view text) {
  while (!text.empty() && text.back() >= '0' && text.back() <= '9') text.remove_suffix(1);
  return text;
}

/// What stands before the numbers in the paths of the numbered like siblings with the most time
/// that have children.
std::string LayerPrefix(const std::vector<ModuleNode>& collapsed,
                        const std::vector<ModuleNode>& nodes) {
  const std::vector<size_t> ends = SubtreeEnds(collapsed);
  const ModuleNode* best = nullptr;
  for (size_t i = 0; i < collapsed.size(); ++i) {
    const ModuleNode& node = collapsed[i];
    const bool is_numbered = node.instance.find("..") != std::string::npos;
    if (node.repeat < 2 || ends[i] == i + 1 || !is_numbered) continue;
    if (best == nullptr || node.gpu_incl_ns > best->gpu_incl_ns) best = &node;
  }
  if (best == nullptr) return {};
  const std::string_view range = best->instance;
  const std::string_view prefix = WithoutNumber(range.substr(0, range.find("..")));
  const auto is_layer = [prefix](const ModuleNode& node) {
    const std::string_view front = WithoutNumber(node.path);
    return front.size() < node.path.size() && front.ends_with(prefix);
  };
  // Paths may be written otherwise than names.
  const bool in_paths = std::count_if(nodes.begin(), nodes.end(), is_layer) > 1;
  return in_paths ? std::string(prefix) : std::string();
}

/// A root module says less than the architecture, or the type, that the config names.
void NameByConfig(const model::ModelConfig* config, SummaryFacts& facts) {
  if (config == nullptr) return;
  facts.config = config->name;
  const bool is_class = !facts.model.value.empty() && facts.model.source != kRootModuleSource;
  const std::string& name =
      config->architectures.empty() ? config->model_type : config->architectures.front();
  if (!is_class && !name.empty()) facts.model = {name, "config"};
}

/// Facts of the model are the file's, whatever is selected.
void GuessTheModel(const RankView& view, const model::ModelConfig* config,
                   const std::vector<ModuleNode>& collapsed, SummaryFacts& facts) {
  if (view.selects_all()) {
    facts.model = GuessModel(facts.tree.nodes, facts.tree.total_ns);
    facts.layers = LayersText(collapsed);
  } else {
    const ModuleNodes all = BuildModuleNodes(RankView(view.input(), view.rules()));
    facts.model = GuessModel(all.nodes, all.total_ns);
    facts.layers = LayersText(CollapseRuns(all.nodes));
  }
  facts.layer_prefix = LayerPrefix(collapsed, facts.tree.nodes);
  NameByConfig(config, facts);
}

/// Between the selected steps other steps run, and what a module or a stream leaves idle others
/// use.
bool ExplainsIdle(const RankView& view, const Selection& selection) {
  return !view.cpu_only() && ScopeOf(selection) == StepScope::kWhole && !selection.steps &&
         !selection.phase && !selection.passes;
}

}  // namespace

SummaryFacts CollectSummary(const AnalysisInput& input, const RankView& view,
                            const Selection& selection) {
  SummaryFacts facts;
  facts.scope = ScopeOf(selection);
  facts.engine = GuessEngine(view);
  facts.gpu_name = DeviceNames(view.trace());
  facts.ranks = FindRanks(input);
  facts.devices = BuildDeviceRows(view);
  facts.gpu = Add(facts.devices);
  facts.launches = CountLaunches(view);
  facts.graph_banner = GraphBanner(view);
  facts.graphs = GraphShareOf(view);
  facts.tree = BuildModuleNodes(view);
  const std::vector<ModuleNode> collapsed = CollapseRuns(facts.tree.nodes);
  GuessTheModel(view, input.config, collapsed, facts);
  facts.top_modules = ChooseTopModules(collapsed, facts.tree.total_ns, kModuleRows);
  facts.categories = RankActivities(view, KernelsBy::kCategory, Places::kTogether);
  facts.kernels = RankActivities(view, KernelsBy::kName, Places::kTogether);
  facts.other = OtherText(view, WithoutCategory(view, facts.kernels));
  const std::string& other = view.rules().category(view.rules().other()).name;
  for (const KernelRow& row : facts.categories) {
    if (row.category == other) facts.other_ns += row.group.sum_ns;
  }
  // A graph that was recorded whole is no kernel without a category.
  for (const KernelRow& row : facts.kernels) {
    if (IsWholeGraph(view, row)) facts.other_ns -= row.group.sum_ns;
  }
  facts.compiled = CompiledText(view, CompiledRegions(view.trace()));
  facts.steps = BuildStepRows(view, facts.scope);
  facts.phases = SumPhases(facts.steps.rows);
  if (ExplainsIdle(view, selection)) facts.idle = ExplainIdle(view, facts.steps.idle);
  facts.pass_layers = SummarizeLayers(view, selection);
  return facts;
}

}  // namespace layerscope::analysis

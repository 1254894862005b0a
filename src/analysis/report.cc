#include "src/analysis/report.h"

#include <fmt/format.h>

#include <utility>

#include "src/analysis/compute_flow.h"
#include "src/analysis/config_check.h"
#include "src/analysis/coverage.h"
#include "src/analysis/kernel_rows.h"
#include "src/analysis/layer_kernels.h"
#include "src/analysis/layers.h"
#include "src/analysis/model_summary.h"
#include "src/analysis/module_shape.h"
#include "src/analysis/module_table.h"
#include "src/analysis/passes.h"
#include "src/analysis/ranges.h"
#include "src/analysis/rank_loop.h"
#include "src/analysis/report_trace.h"
#include "src/analysis/row_table.h"
#include "src/analysis/structure_text.h"
#include "src/analysis/summary_tree.h"
#include "src/analysis/top_kernels.h"
#include "src/base/format_number.h"
#include "src/table/limit.h"
#include "src/table/or_null.h"

namespace layerscope::analysis {
namespace {

using layers::LayerStructure;
using table::Block;
using table::Object;

/// Kernels of a layer that the compute flow lists; the rest is short. Without passes: of modules,
/// categories, kernels and ops.
constexpr int64_t kFlowRows = 40;

Block Titled(std::string title, Block block) {
  block.title = std::move(title);
  return block;
}

Block TextBlock(std::string title, std::string text) {
  return {.kind = Block::Kind::kText, .title = std::move(title), .text = std::move(text)};
}

/// What the config says of the model.
void AddModel(const model::ModelConfig* config, std::vector<Block>& blocks) {
  constexpr const char* kTitle = "2. Model";
  if (config == nullptr) {
    blocks.push_back(TextBlock(kTitle,
                               "No config was given, so the model's name, sizes and layer types "
                               "are not known. Give --config FILE (a Hugging Face config.json)."));
    return;
  }
  blocks.push_back({.kind = Block::Kind::kFacts, .title = kTitle, .facts = ModelFacts(*config)});
  RowTable<PlannedType> types(PlannedTypes(*config));
  types.AddText({.name = "type"}, &PlannedType::type)
      .AddInt(Count("n", "n"), &PlannedType::n)
      .AddText(Key("layers"), &PlannedType::layers);
  table::Table table = types.Take();
  table.title = "Layer types of the config";
  blocks.push_back(table::TableBlock(std::move(table)));
}

/// The passes with exact seconds, as they are looked for in Perfetto.
table::Table TableOfPasses(std::vector<PassRow> rows) {
  RowTable<PassRow> table(std::move(rows));
  const auto text = [](std::string PassRow::*member) {
    return [member](const PassRow& row) { return table::TextCellOrNull(row.*member); };
  };
  table.AddInt({.name = "index", .title = "#"}, &PassRow::index)
      .AddText({.name = "kind"}, &PassRow::kind)
      .Add({.name = "start_s", .title = "start s"}, text(&PassRow::start_s))
      .Add({.name = "end_s", .title = "end s"}, text(&PassRow::end_s))
      .Add(Nanoseconds("wall_ns", "duration"),
           [](const PassRow& row) { return row.ran ? table::Cell(row.wall_ns) : table::Cell(); })
      .AddInt(Count("n_layers", "layers"), &PassRow::n_layers)
      .Add(Nanoseconds("layer_avg_ns", "average layer"),
           [](const PassRow& row) { return table::CellOrNull(row.avg_layer_ns); })
      .Add(Nanoseconds("layer_0_ns", "first layer"),
           [](const PassRow& row) { return table::CellOrNull(row.first_layer_ns); })
      .Add({.name = "note", .title = "notes"}, text(&PassRow::note));
  return table.Take();
}

table::Array FlowArray(const PassLayers& layers, const model::Profile* profile) {
  table::Array flows;
  for (const Cluster& cluster : layers.clusters) {
    const RankView view = ViewOfLayer(layers, cluster.example);
    std::vector<LayerKernel> kernels = BuildLayerKernels(view, *view.input().layers, profile);
    AddFused(InductorKernels(view), kernels);
    flows.push_back(Object{{"layer", int64_t{cluster.example}},
                           {"type", cluster.type},
                           {"rows", LayerKernelsForMachines(view, std::move(kernels))}});
  }
  return flows;
}

void AddPassPoints(const AnalysisInput& input, const PassLayers& layers, const table::Table& ranges,
                   const ReportOptions& options, std::vector<Block>& blocks) {
  const RankView& view = layers.view;
  const int64_t pass_ns = layers.of_pass().total_ns();
  const int64_t pass_wall_ns = layers.of_pass().span.wall_ns();
  table::Table rows = LayerTableForPeople(view, layers.rows, layers.groups);
  table::NoteRowsLeftOut(rows, table::LimitRows(rows, options.presentation.Limit(0)));
  blocks.push_back(Titled("5. Layers", table::TableBlock(std::move(rows))));
  if (layers.of_pass().n() > 0)
    blocks.push_back(
        Titled("5.1 Head + layers + tail = pass", table::TableBlock(PartTable(layers))));
  table::Table clusters = ClusterTableForPeople(view, layers.clusters, layers.groups, pass_ns);
  clusters.notes.emplace_back(ClusterSharesText());
  if (std::string text = VariantsText(layers.clusters); !text.empty()) {
    clusters.notes.push_back(std::move(text));
  }
  blocks.push_back(Titled("6. Layers by type", table::TableBlock(std::move(clusters))));
  blocks.push_back(TextBlock("7. Compute flow",
                             "The layer with the median wall time of each type, its kernels by "
                             "duration; # is the place in time."));
  int number = 0;
  for (Block& block : FlowBlocks(layers, input.profile, options.presentation.Limit(kFlowRows),
                                 options.presentation.verbose)) {
    block.table.title = fmt::format("7.{} {}", ++number, block.table.title);
    blocks.push_back(std::move(block));
  }
  blocks.push_back(Titled("8. Ranges for Perfetto", table::TableBlock(ranges)));
  std::string bottleneck = BottleneckText(view, layers.clusters, pass_wall_ns);
  if (bottleneck.empty()) bottleneck = "unknown: this pass has no whole layers that ran";
  blocks.push_back(TextBlock("9. Bottleneck", std::move(bottleneck)));
}

/// Points 4 to 9: of one pass.
base::Status AddPass(const AnalysisInput& input, const RankView& view, const ReportOptions& options,
                     StructureSums sums, table::RankResult& result) {
  base::Result<PassLayers> layers = CollectPassLayers(view, options.selection, std::move(sums));
  if (!layers.ok()) return std::move(layers).error();
  table::Table ranges = RangeTableOf(*view.input().layers, layers->sums, layers->pass.index);
  const int64_t pass_wall_ns = layers->of_pass().span.wall_ns();
  if (options.presentation.for_people) {
    if (std::string text = BottleneckText(view, layers->clusters, pass_wall_ns); !text.empty()) {
      result.blocks.insert(result.blocks.begin(), TextBlock({}, "Bottleneck: " + text));
    }
    result.blocks.push_back(Titled("4. The pass shown below", PassBlock(view, *layers)));
    if (!layers->rows.empty()) AddPassPoints(input, *layers, ranges, options, result.blocks);
  }
  Object& data = result.data;
  data.emplace_back("pass", layers->pass.index);
  data.emplace_back("reason", layers->pass.long_why);
  data.emplace_back("layers", LayerTableForMachines(view, layers->rows));
  data.emplace_back("clusters", ClusterTableForMachines(view, layers->clusters));
  data.emplace_back("flow", FlowArray(*layers, input.profile));
  data.emplace_back("ranges", std::move(ranges));
  data.emplace_back("bottleneck", BottleneckText(view, layers->clusters, pass_wall_ns));
  return {};
}

/// What follows point 3 where there are no passes: of CPU ops alone, and where no layer was found.
void AddTimes(const RankView& view, bool for_people, table::RankResult& result) {
  const ModuleNodes tree = BuildModuleNodes(view);
  const std::vector<ModuleNode> modules =
      ChooseTopModules(CollapseRuns(tree.nodes), tree.total_ns, kFlowRows);
  const std::vector<KernelRow> kernels = RankActivities(view, KernelsBy::kName, Places::kTogether);
  result.data.emplace_back("top_modules", NodesForMachines(view, modules));
  result.data.emplace_back("top_kernels", TopKernelTable(view, kernels, 0, kTopKernelsForMachines));
  if (!for_people) return;
  std::vector<Block> blocks =
      TopKernelBlocks(view, RankActivities(view, KernelsBy::kCategory, Places::kTogether), kernels,
                      OtherText(view, WithoutCategory(view, kernels)), kFlowRows);
  if (!modules.empty()) blocks.insert(blocks.begin(), BlockOfTopModules(view, tree, modules));
  int number = 4;
  for (Block& block : blocks) {
    block.table.title = fmt::format("{}. {}", number++, block.table.title);
    result.blocks.push_back(std::move(block));
  }
}

base::Result<table::RankResult> ComputeRank(const AnalysisInput& input, const RankView& view,
                                            const ReportOptions& options) {
  base::Result<const LayerStructure*> found = StructureOf(view.input());
  if (!found.ok()) return std::move(found).error();
  const LayerStructure& structure = **found;
  StructureSums sums = SumStructure(view, structure);
  Selection selection = options.selection;
  selection.passes.reset();
  selection.phase.reset();
  std::vector<PassRow> passes = BuildPassRows(view, structure, sums, selection);
  table::RankResult result = StartResult(view);
  WarnOfMismatch(input, view, result);
  result.abstained = AbstentionOf(view.input());
  result.main_table = "layers";
  result.data = {{"trace", TraceObject(input, view)}};
  result.data.emplace_back("model", input.config == nullptr
                                        ? table::Value(table::Null())
                                        : table::Value(ModelToObject(*input.config)));
  result.data.emplace_back("anchor", AnchorObject(structure));
  result.data.emplace_back("layers_per_pass", table::OrNull(structure.layers_per_pass));
  result.data.emplace_back("profile", ProfileObject(structure));
  result.data.emplace_back("modules", AgreementValue(structure));
  result.data.emplace_back("passes", PassTableForMachines(view, passes));
  if (options.presentation.for_people) {
    result.blocks.push_back(Titled("1. Trace", TraceBlock(input, view)));
    AddModel(input.config, result.blocks);
    result.blocks.push_back(
        Titled("3. Passes", table::TableBlock(TableOfPasses(std::move(passes)))));
  }
  if (structure.passes.empty()) {
    AddTimes(view, options.presentation.for_people, result);
    return result;
  }
  if (base::Status added = AddPass(input, view, options, std::move(sums), result); !added.ok()) {
    return std::move(added).error();
  }
  return result;
}

}  // namespace

base::Result<Output> ComputeReport(const AnalysisInput& input, const ReportOptions& options) {
  Selection selection = options.selection;
  selection.passes.reset();
  selection.phase.reset();
  return ForEachRank(input, selection,
                     [&](const RankView& view) { return ComputeRank(input, view, options); });
}

}  // namespace layerscope::analysis

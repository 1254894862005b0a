#include "src/analysis/compute_flow.h"

#include <fmt/format.h>

#include <utility>

#include "src/analysis/coverage.h"
#include "src/analysis/layer_kernels.h"
#include "src/analysis/rank_loop.h"
#include "src/base/format_number.h"
#include "src/table/limit.h"
#include "src/table/sort.h"

namespace layerscope::analysis {
namespace {

base::Result<table::RankResult> FlowOfSelection(const AnalysisInput& input, const RankView& view,
                                                const KernelsOptions& options) {
  const Presentation& presentation = options.presentation;
  table::RankResult result = StartResult(view);
  std::vector<LayerKernel> kernels = BuildLayerKernels(view, *view.input().layers, input.profile);
  AddFused(InductorKernels(view), kernels);
  table::Table rows = LayerKernelsForMachines(view, kernels);
  if (base::Status sorted = table::SortBy(rows, presentation.sort); !sorted.ok()) {
    return std::move(sorted).error();
  }
  const int64_t left_out = table::LimitRows(rows, presentation.Limit(0));
  table::Table shown =
      LayerKernelsForPeople(view, std::move(kernels), view.total_ns(), presentation.verbose);
  shown.order = rows.order;
  shown.title = fmt::format("Compute flow: {} in {}", base::FormatDuration(view.total_ns()),
                            base::FormatCounted(static_cast<int64_t>(rows.n_rows), "kernel"));
  table::NoteRowsLeftOut(shown, left_out);
  result.blocks.push_back(table::TableBlock(std::move(shown)));
  result.data = {{"rows", std::move(rows)}};
  result.main_table = "rows";
  return result;
}

base::Result<table::RankResult> FlowOfTypes(const AnalysisInput& input, const RankView& view,
                                            const KernelsOptions& options) {
  base::Result<PassLayers> layers = CollectPassLayers(view, options.selection);
  if (!layers.ok()) return std::move(layers).error();
  table::RankResult result = StartResult(layers->view);
  if (layers->rows.empty()) result.abstained = AbstentionOf(view.input());
  result.blocks = FlowBlocks(*layers, input.profile, options.presentation.Limit(0),
                             options.presentation.verbose);
  return result;
}

}  // namespace

RankView ViewOfLayer(const PassLayers& layers, int64_t index) {
  const layers::LayerStructure& structure = *layers.view.input().layers;
  RankView view = layers.view;
  std::vector<uint32_t> rows;
  for (const uint32_t row : layers.view.rows()) {
    const layers::LayerId layer = structure.layer[row];
    if (layer.valid() && structure.layers[layer.index()].index == index) rows.push_back(row);
  }
  view.SetRows(std::move(rows), false);
  return view;
}

std::vector<table::Block> FlowBlocks(const PassLayers& layers, const model::Profile* profile,
                                     int64_t rows, bool full_names) {
  std::vector<table::Block> blocks;
  for (const Cluster& cluster : layers.clusters) {
    const RankView view = ViewOfLayer(layers, cluster.example);
    table::Table table = LayerKernelsForPeople(
        view, BuildLayerKernels(view, *view.input().layers, profile), view.total_ns(), full_names);
    table.title =
        fmt::format("Layer {}, type {} (median of {}): {} in {}", cluster.example, cluster.type,
                    base::FormatCounted(cluster.n, "layer"), base::FormatDuration(view.total_ns()),
                    base::FormatCounted(static_cast<int64_t>(table.n_rows), "kernel"));
    table::NoteRowsLeftOut(table, table::LimitRows(table, rows));
    blocks.push_back(table::TableBlock(std::move(table)));
  }
  return blocks;
}

base::Result<Output> ComputeFlow(const AnalysisInput& input, const KernelsOptions& options) {
  if (options.selection.layer) {
    return ForEachRank(input, options.selection,
                       [&](const RankView& view) { return FlowOfSelection(input, view, options); });
  }
  Selection selection = options.selection;
  selection.passes.reset();
  selection.phase.reset();
  return ForEachRank(input, selection,
                     [&](const RankView& view) { return FlowOfTypes(input, view, options); });
}

}  // namespace layerscope::analysis

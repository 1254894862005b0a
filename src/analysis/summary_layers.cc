#include "src/analysis/summary_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/analysis/passes.h"
#include "src/analysis/structure_text.h"
#include "src/base/format_number.h"
#include "src/table/limit.h"
#include "src/table/or_null.h"

namespace layerscope::analysis {
namespace {

using layers::LayerStructure;

constexpr int64_t kRows = 3;

/// Rows of a table that leave no doubt that there are more.
void Limit(table::Table& table, std::string_view all) {
  const int64_t left_out = table::LimitRows(table, kRows);
  if (left_out > 0) table.notes.push_back(fmt::format("… and {} more: {}", left_out, all));
}

/// The passes around the steady one: the page has room for three.
std::vector<PassRow> PassesForPage(const LayerStructure& structure, std::vector<PassRow> rows) {
  const size_t n = static_cast<size_t>(kRows);
  if (rows.size() <= n || !structure.steady_pass) return rows;
  const auto steady = std::find_if(rows.begin(), rows.end(), [&](const PassRow& row) {
    return row.index == static_cast<int64_t>(*structure.steady_pass);
  });
  if (steady == rows.end() || static_cast<size_t>(steady - rows.begin()) < n) return rows;
  std::rotate(rows.begin() + static_cast<std::ptrdiff_t>(n) - 1, steady, steady + 1);
  return rows;
}

}  // namespace

std::optional<SummaryLayers> SummarizeLayers(const RankView& view, const Selection& selection) {
  const LayerStructure* const structure = view.input().layers;
  if (structure == nullptr || structure->layers.empty()) return std::nullopt;
  if (selection.layer || selection.module || selection.stream || selection.steps ||
      selection.from_ns || selection.to_ns || selection.without_communication) {
    return std::nullopt;
  }
  Selection chosen = selection;
  if (chosen.passes && chosen.passes->first != chosen.passes->second) chosen.passes.reset();
  base::Result<PassLayers> layers = CollectPassLayers(view, chosen);
  if (!layers.ok() || layers->rows.empty() || layers->of_pass().n() == 0) return std::nullopt;
  std::vector<PassRow> passes = BuildPassRows(view, *structure, layers->sums, selection);
  return SummaryLayers{std::move(passes), *std::move(layers)};
}

table::Object LayersObject(const RankView& view, const SummaryLayers& summary) {
  const LayerStructure& structure = *view.input().layers;
  const PassLayers& layers = summary.layers;
  return {{"layers_per_pass", table::OrNull(structure.layers_per_pass)},
          {"n_passes", summary.passes.size()},
          {"steady_pass", structure.steady_pass ? table::Value(*structure.steady_pass)
                                                : table::Value(table::Null())},
          {"pass", layers.pass.index},
          {"reason", layers.pass.long_why},
          {"anchor", AnchorObject(structure)},
          {"passes", PassTableForMachines(view, summary.passes)},
          {"clusters", ClusterTableForMachines(view, layers.clusters)},
          {"bottleneck", BottleneckText(view, layers.clusters, layers.of_pass().span.wall_ns())}};
}

std::vector<table::Block> LayerBlocks(const RankView& view, const SummaryLayers& summary,
                                      const std::string& arguments) {
  const LayerStructure& structure = *view.input().layers;
  const PassLayers& layers = summary.layers;
  const int64_t pass_ns = layers.of_pass().total_ns();
  std::vector<table::Block> blocks;
  table::Table passes = PassTable(view, PassesForPage(structure, summary.passes));
  Limit(passes, "layerscope passes " + arguments);
  passes.notes.push_back(FoundText(structure));
  const auto n_passes = static_cast<int64_t>(summary.passes.size());
  blocks.push_back(
      table::TableBlock(base::FormatCounted(n_passes, "pass", "passes"), std::move(passes)));
  table::Table types = ClusterTableForPeople(view, layers.clusters, layers.groups, pass_ns);
  Limit(types, "layerscope layers " + arguments);
  if (std::string text = BottleneckText(view, layers.clusters, layers.of_pass().span.wall_ns());
      !text.empty()) {
    types.notes.push_back("bottleneck: " + text);
  }
  blocks.push_back(table::TableBlock(
      fmt::format("Layer types of pass {} ({})", layers.pass.index, layers.pass.why),
      std::move(types)));
  return blocks;
}

bool LayersOfOneRank(const RankView& view) {
  return view.input().no_layers.has_value() && view.processes().many() && view.selects_all();
}

bool MayHaveLayers(const RankView& view) {
  const LayerStructure* const structure = view.input().layers;
  return structure != nullptr ? structure->abstained.has_value()
                              : view.input().no_layers.has_value();
}

}  // namespace layerscope::analysis

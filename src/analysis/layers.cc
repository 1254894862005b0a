#include "src/analysis/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/analysis/alignment_table.h"
#include "src/analysis/config_check.h"
#include "src/analysis/coverage.h"
#include "src/analysis/kernels.h"
#include "src/analysis/layer_variance.h"
#include "src/analysis/rank_loop.h"
#include "src/analysis/row_table.h"
#include "src/analysis/structure_text.h"
#include "src/base/format_number.h"
#include "src/table/limit.h"
#include "src/table/sort.h"

namespace layerscope::analysis {
namespace {

using layers::LayerStructure;
using table::Object;

constexpr int64_t kOtherRows = 5;

/// A row of what adds up to the pass.
struct PartRow {
  std::string part;
  PartSums sums;
};

PartSums SumOfLayers(const PassLayers& layers) {
  PartSums sums;
  for (const LayerRow& row : layers.rows) {
    sums.n_kernels += row.sums.n_kernels;
    sums.sum_ns += row.sums.sum_ns;
    sums.n_copies += row.sums.n_copies;
    sums.copy_ns += row.sums.copy_ns;
    if (row.ran()) {
      sums.span.Add(row.sums.span.first_ns(), row.sums.span.wall_ns());
    }
  }
  return sums;
}

/// {n_kernels, sum_ns, n_copies, copy_ns, start_ns, end_ns, kernels[{name, short_name, category, n,
/// sum_ns}]} of a head or tail.
Object PartObject(const PassLayers& layers, layers::PassPart part, const PartSums& sums) {
  const LayerStructure& structure = *layers.view.input().layers;
  RankView view = layers.view;
  std::vector<uint32_t> rows;
  for (const uint32_t row : layers.view.rows()) {
    const bool in_layer = structure.layer[row].valid();
    const bool is_tail = structure.part[row] == layers::PassPart::kTail;
    if (!in_layer && is_tail == (part == layers::PassPart::kTail)) rows.push_back(row);
  }
  view.SetRows(std::move(rows), false);
  table::Array kernels;
  for (const KernelRow& row : RankActivities(view, KernelsBy::kName, Places::kTogether)) {
    kernels.push_back(Object{{"name", row.key},
                             {"short_name", row.short_name},
                             {"category", row.category},
                             {"n", row.group.n},
                             {"sum_ns", row.group.sum_ns}});
  }
  return {{"n_kernels", sums.n_kernels},
          {"sum_ns", sums.sum_ns},
          {"n_copies", sums.n_copies},
          {"copy_ns", sums.copy_ns},
          {"start_ns", sums.n() > 0 ? table::Value(sums.span.first_ns()) : table::Value()},
          {"end_ns", sums.n() > 0 ? table::Value(sums.span.last_ns()) : table::Value()},
          {"kernels", std::move(kernels)}};
}

Object TotalObject(const PassLayers& layers) {
  const PassSums& sums = layers.of_pass();
  const auto if_ran = [&sums](int64_t ns) {
    return sums.n() > 0 ? table::Value(ns) : table::Value();
  };
  return {{"n_layers", layers.rows.size()},
          {"n_kernels", sums.n_kernels},
          {"sum_ns", sums.sum_ns},
          {"n_copies", sums.n_copies},
          {"copy_ns", sums.copy_ns},
          {"busy_ns", if_ran(sums.busy.busy_ns())},
          {"wall_ns", if_ran(sums.span.wall_ns())}};
}

table::Array OtherTop(const std::vector<KernelRow>& others) {
  table::Array top;
  for (const KernelRow& row : others) {
    if (top.size() == kOtherRows) break;
    top.push_back(Object{{"name", row.key},
                         {"short_name", row.short_name},
                         {"n", row.group.n},
                         {"sum_ns", row.group.sum_ns}});
  }
  return top;
}

/// Foreign kernels are in no sum: the reader must know where they are.
void NoteForeign(const PassLayers& layers, table::Table& table) {
  int64_t n = 0;
  int64_t ns = 0;
  for (const LayerRow& row : layers.rows) n += row.sums.n_foreign, ns += row.sums.foreign_ns;
  if (n == 0) return;
  table.notes.push_back(
      fmt::format("foreign: {} ({}) of another stream, launched outside the pass, "
                  "run meanwhile; they are in no sum here",
                  base::FormatCounted(n, "kernel"), base::FormatDuration(ns)));
}

void AddBlocks(const RankView& view, const PassLayers& layers, const std::vector<KernelRow>& others,
               const table::Table& machines, int64_t left_out, table::RankResult& result) {
  result.blocks.push_back(PassBlock(view, layers));
  if (layers.rows.empty()) return;
  table::Table people = LayerTableForPeople(view, layers.rows, layers.groups);
  people.title = base::FormatCounted(static_cast<int64_t>(layers.rows.size()), "layer");
  people.order = machines.order;
  table::NoteRowsLeftOut(people, left_out);
  NoteForeign(layers, people);
  if (std::string other = OtherText(layers.view, others); !other.empty()) {
    people.notes.push_back(std::move(other));
  }
  result.blocks.push_back(table::TableBlock(std::move(people)));
  if (!layers.clusters.empty()) {
    const int64_t pass_ns = layers.of_pass().total_ns();
    table::Table clusters = ClusterTableForPeople(view, layers.clusters, layers.groups, pass_ns);
    clusters.title = "By type";
    clusters.notes.emplace_back(ClusterSharesText());
    if (std::string text = VariantsText(layers.clusters); !text.empty()) {
      clusters.notes.push_back(std::move(text));
    }
    if (std::string text = BottleneckText(view, layers.clusters, layers.of_pass().span.wall_ns());
        !text.empty()) {
      clusters.notes.push_back("bottleneck: " + text);
    }
    result.blocks.push_back(table::TableBlock(std::move(clusters)));
  }
  if (layers.of_pass().n() > 0) result.blocks.push_back(table::TableBlock(PartTable(layers)));
}

base::Result<table::RankResult> ComputePass(const RankView& view, const LayersOptions& options) {
  base::Result<const LayerStructure*> found = StructureOf(view.input());
  if (!found.ok()) return std::move(found).error();
  const LayerStructure& structure = **found;
  if (structure.passes.empty() && structure.abstained) {
    table::RankResult result = StartResult(view);
    result.abstained = AbstentionOf(view.input());
    result.data = {{"pass", table::Null()}, {"reason", table::Null()}, {"layers", table::Array()}};
    return result;
  }
  if (options.all_passes) return ComputeLayerVariance(view, structure, options);
  base::Result<PassLayers> layers = CollectPassLayers(view, options.selection);
  if (!layers.ok()) return std::move(layers).error();
  table::RankResult result = StartResult(layers->view);
  const bool none = layers->rows.empty();
  if (none) result.abstained = AbstentionOf(view.input());
  table::Table machines = LayerTableForMachines(view, layers->rows);
  if (base::Status sorted = table::SortBy(machines, options.presentation.sort); !sorted.ok()) {
    return std::move(sorted).error();
  }
  const int64_t left_out = table::LimitRows(machines, options.presentation.Limit(0));
  const std::vector<KernelRow> others = WithoutCategory(
      layers->view, RankActivities(layers->view, KernelsBy::kName, Places::kTogether));
  if (options.presentation.for_people) AddBlocks(view, *layers, others, machines, left_out, result);
  const PassSums& of_pass = layers->of_pass();
  result.main_table = "layers";
  result.data = {{"pass", layers->pass.index},
                 {"kind", layers::ToString(structure.passes[layers->pass.index].kind)},
                 {"reason", layers->pass.long_why},
                 {"layers", std::move(machines)},
                 {"head", PartObject(*layers, layers::PassPart::kHead, of_pass.head)},
                 {"tail", PartObject(*layers, layers::PassPart::kTail, of_pass.tail)},
                 {"clusters", ClusterTableForMachines(view, layers->clusters)},
                 {"other_top", OtherTop(others)},
                 {"total", TotalObject(*layers)},
                 {"anchor", AnchorObject(structure)},
                 {"profile", ProfileObject(structure)},
                 {"modules", AgreementValue(structure)}};
  return result;
}

/// "3 of 12: decode, step 4 execute_context_0(0)_generation_8(8)", "0 of 1: prefill, partial".
std::string PassTitle(const RankView& view, const LayerStructure& structure, size_t pass) {
  const layers::Pass& source = structure.passes[pass];
  std::string text =
      fmt::format("{} of {}: {}", pass, structure.passes.size(), layers::ToString(source.kind));
  if (source.step.valid()) {
    const attribution::Step& step = view.attribution().steps[source.step.index()];
    text += fmt::format(", step {} {}", view.StepLabel(static_cast<uint32_t>(source.step.index())),
                        view.trace().strings[step.name]);
  }
  if (!source.complete && source.n_layers > 0 && source.kind != layers::PassKind::kCapture) {
    text += ", partial";
  }
  if (!source.note.empty()) text += ", " + source.note;
  return text;
}

}  // namespace

base::Result<PassLayers> CollectPassLayers(const RankView& view, const Selection& selection) {
  base::Result<const LayerStructure*> found = StructureOf(view.input());
  if (!found.ok()) return std::move(found).error();
  return CollectPassLayers(view, selection, SumStructure(view, **found));
}

base::Result<PassLayers> CollectPassLayers(const RankView& view, const Selection& selection,
                                           StructureSums sums) {
  base::Result<ChosenPass> pass = ChoosePass(view.input(), selection.passes, selection.phase);
  if (!pass.ok()) return std::move(pass).error();
  const LayerStructure& structure = *view.input().layers;
  RankView of_pass = view;
  std::vector<uint32_t> rows;
  for (const uint32_t row : view.rows()) {
    const layers::PassId id = structure.pass[row];
    if (id.valid() && id.index() == pass->index) rows.push_back(row);
  }
  of_pass.SetRows(std::move(rows), false);
  std::vector<LayerRow> layer_rows = BuildLayerRows(structure, sums, pass->index);
  std::vector<Cluster> clusters = BuildClusters(layer_rows);
  CategorySums by_category;
  for (const LayerRow& row : layer_rows) by_category.Add(row.sums.by_category);
  std::vector<std::string> groups = GroupsOf(view.rules(), by_category);
  return PassLayers{*std::move(pass),    std::move(sums),   std::move(layer_rows),
                    std::move(clusters), std::move(groups), std::move(of_pass)};
}

table::Table PartTable(const PassLayers& layers) {
  const PassSums& pass = layers.of_pass();
  std::vector<PartRow> rows = {
      {"head", pass.head},
      {base::FormatCounted(static_cast<int64_t>(layers.rows.size()), "layer"), SumOfLayers(layers)},
      {"tail", pass.tail},
      {"pass", pass}};
  RowTable<PartRow> table(std::move(rows));
  table.AddText({.name = "part"}, &PartRow::part)
      .Add(Nanoseconds("wall_ns", "wall"),
           [](const PartRow& row) { return row.sums.span.wall_ns(); })
      .Add(Count("n_kernels", "kernels"), [](const PartRow& row) { return row.sums.n_kernels; })
      .Add(Count("n_copies", "copies", 1), [](const PartRow& row) { return row.sums.n_copies; })
      .Add(Share("gpu_ns", "GPU time", pass.total_ns()),
           [](const PartRow& row) { return row.sums.total_ns(); });
  table::Table built = table.Take();
  built.title = "Head + layers + tail = pass";
  return built;
}

table::Block PassBlock(const RankView& view, const PassLayers& layers) {
  const LayerStructure& structure = *view.input().layers;
  table::Block block;
  block.kind = table::Block::Kind::kFacts;
  block.facts.emplace_back("pass", PassTitle(view, structure, layers.pass.index));
  block.facts.emplace_back("why", layers.pass.long_why);
  if (std::string found = FoundText(structure); !found.empty()) {
    block.facts.emplace_back("layers", std::move(found));
  }
  if (std::string agreement = AgreementText(structure); !agreement.empty()) {
    block.facts.emplace_back("check", std::move(agreement));
  }
  block.facts.emplace_back("profile", ProfileText(structure));
  if (std::string files = ReplaySourcesText(view); !files.empty()) {
    block.facts.emplace_back("modules", "of graph replays from " + files);
  }
  return block;
}

base::Result<Output> ComputeLayers(const AnalysisInput& input, const LayersOptions& options) {
  if (options.all_passes && options.selection.passes) {
    return base::Error{base::ErrorCode::kUsage, "--all-passes does not go with --pass",
                       "--all-passes takes every whole pass of one phase (--phase); --pass shows "
                       "one"};
  }
  Selection selection = options.selection;
  selection.passes.reset();
  selection.phase.reset();
  return ForEachRank(input, selection, [&](const RankView& view) {
    base::Result<table::RankResult> result = ComputePass(view, options);
    if (result.ok()) WarnOfMismatch(input, view, *result);
    return result;
  });
}

}  // namespace layerscope::analysis

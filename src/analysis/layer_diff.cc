#include "src/analysis/layer_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/analysis/coverage.h"
#include "src/analysis/layer_choice.h"
#include "src/analysis/layer_rows.h"
#include "src/analysis/rank_loop.h"
#include "src/analysis/row_table.h"
#include "src/analysis/structure_text.h"
#include "src/base/format_number.h"
#include "src/table/limit.h"
#include "src/table/sort.h"

namespace layerscope::analysis {
namespace {

using table::Cell;
using table::Object;

constexpr int64_t kRowsForPeople = 25;

/// Kernels of one name in the two layers.
struct DiffRow {
  std::string name;
  std::string short_name;
  std::string shown_name;
  std::string category;
  int64_t n_primary = 0;
  int64_t n_comparison = 0;
  int64_t primary_ns = 0;
  int64_t comparison_ns = 0;
  int64_t delta_ns() const { return comparison_ns - primary_ns; }
};

/// Rows by the larger of their differences; equal ones by time.
std::vector<DiffRow> DiffOf(const RankView& primary, const RankView& comparison) {
  std::map<std::string, DiffRow> rows;
  const auto add = [&rows](const RankView& view, int64_t DiffRow::*n, int64_t DiffRow::*ns) {
    for (const KernelRow& kernel : RankActivities(view, KernelsBy::kName, Places::kTogether)) {
      DiffRow& row = rows[kernel.key];
      row.name = kernel.key;
      row.short_name = kernel.short_name;
      row.shown_name = kernel.shown_name;
      row.category = kernel.category;
      row.*n = kernel.group.n;
      row.*ns = kernel.group.sum_ns;
    }
  };
  add(primary, &DiffRow::n_primary, &DiffRow::primary_ns);
  add(comparison, &DiffRow::n_comparison, &DiffRow::comparison_ns);
  std::vector<DiffRow> list;
  for (auto& [name, row] : rows) list.push_back(std::move(row));
  std::stable_sort(list.begin(), list.end(), [](const DiffRow& a, const DiffRow& b) {
    const auto key = [](const DiffRow& row) {
      return std::pair(std::abs(row.delta_ns()), std::max(row.primary_ns, row.comparison_ns));
    };
    return key(a) > key(b);
  });
  return list;
}

/// {pass, layer, type, start_ns, end_ns, wall_ns, sum_ns, busy_ns, n_kernels, copy_ns, n_copies,
/// by_category}.
Object SideObject(const RankView& view, size_t pass, const LayerRow& row) {
  table::Object by_category;
  for (const auto& [name, ns] : row.sums.by_category.ByName(view.rules())) {
    by_category.emplace_back(name, ns);
  }
  return {{"pass", pass},
          {"layer", int64_t{row.layer.index}},
          {"type", row.type},
          {"start_ns", row.sums.span.first_ns()},
          {"end_ns", row.sums.span.last_ns()},
          {"wall_ns", row.sums.span.wall_ns()},
          {"sum_ns", row.sums.sum_ns},
          {"busy_ns", row.sums.busy.busy_ns()},
          {"n_kernels", row.sums.n_kernels},
          {"copy_ns", row.sums.copy_ns},
          {"n_copies", row.sums.n_copies},
          {"by_category", std::move(by_category)}};
}

Object DiffObject(const std::vector<DiffRow>& rows) {
  table::Array only_primary;
  table::Array only_comparison;
  table::Array both;
  for (const DiffRow& row : rows) {
    Object object = {
        {"name", row.name}, {"short_name", row.short_name}, {"category", row.category}};
    if (row.n_comparison == 0 || row.n_primary == 0) {
      const bool is_primary = row.n_primary > 0;
      object.emplace_back("n", is_primary ? row.n_primary : row.n_comparison);
      object.emplace_back("sum_ns", is_primary ? row.primary_ns : row.comparison_ns);
      (is_primary ? only_primary : only_comparison).push_back(std::move(object));
      continue;
    }
    object.emplace_back("n_primary", row.n_primary);
    object.emplace_back("n_comparison", row.n_comparison);
    object.emplace_back("primary_ns", row.primary_ns);
    object.emplace_back("comparison_ns", row.comparison_ns);
    object.emplace_back("delta_ns", row.delta_ns());
    both.push_back(std::move(object));
  }
  return {{"only_primary", std::move(only_primary)},
          {"only_comparison", std::move(only_comparison)},
          {"both", std::move(both)}};
}

table::Table TableOf(std::vector<DiffRow> rows, int64_t primary, int64_t comparison,
                     bool full_names) {
  RowTable<DiffRow> table(std::move(rows));
  const auto if_any = [](int64_t DiffRow::*n_of, int64_t DiffRow::*value) {
    return [n_of, value](const DiffRow& row) {
      return row.*n_of > 0 ? Cell(row.*value) : Cell(table::Null());
    };
  };
  table.AddText(Key("kernel"), full_names ? &DiffRow::name : &DiffRow::shown_name)
      .AddText({.name = "category", .priority = 3}, &DiffRow::category)
      .Add(Count("n_primary", fmt::format("n in {}", primary), 2),
           if_any(&DiffRow::n_primary, &DiffRow::n_primary))
      .Add(Count("n_comparison", fmt::format("n in {}", comparison), 2),
           if_any(&DiffRow::n_comparison, &DiffRow::n_comparison))
      .Add(Nanoseconds("primary_ns", fmt::format("layer {}", primary), 1),
           if_any(&DiffRow::n_primary, &DiffRow::primary_ns))
      .Add(Nanoseconds("comparison_ns", fmt::format("layer {}", comparison), 1),
           if_any(&DiffRow::n_comparison, &DiffRow::comparison_ns))
      .Add(Nanoseconds("delta_ns", "delta"), [](const DiffRow& row) { return row.delta_ns(); });
  return table.Take();
}

std::string SideText(const RankView& view, const LayerRow& row) {
  std::vector<std::string> groups;
  for (const std::string& group : GroupsOf(view.rules(), row.sums.by_category)) {
    const int64_t ns = row.sums.by_category.OfGroup(view.rules(), group);
    groups.push_back(fmt::format("{} {}", group, base::FormatDuration(ns)));
  }
  return fmt::format("type {}: wall {}, sum {}, {}; {}", row.type,
                     base::FormatDuration(row.sums.span.wall_ns()),
                     base::FormatDuration(row.sums.total_ns()),
                     base::FormatCounted(row.sums.n_kernels, "kernel"), fmt::join(groups, ", "));
}

/// The activities of one layer of one pass.
base::Result<RankView> ViewOf(const AnalysisInput& input, const RankView& view, Selection selection,
                              size_t pass, int64_t layer) {
  selection.passes = NumberRange(pass, pass);
  selection.layer = fmt::format("{}", layer);
  AnalysisInput one = input;
  one.ranks = std::span(&view.input(), 1);
  base::Result<std::vector<RankView>> views = Select(one, selection);
  if (!views.ok()) return std::move(views).error();
  return std::move(views->front());
}

LayerRow RowOf(const RankView& view, size_t pass, int64_t layer) {
  const layers::LayerStructure& structure = *view.input().layers;
  for (LayerRow& row : BuildLayerRows(structure, SumStructure(view, structure), pass)) {
    if (row.layer.index == layer) return std::move(row);
  }
  return {};
}

base::Result<table::RankResult> CompareRank(const AnalysisInput& input, const RankView& view,
                                            const KernelsOptions& options, int64_t layer) {
  base::Result<ChosenPass> pass = options.selection.passes
                                      ? ChoosePass(view.input(), options.selection.passes, {})
                                      : PassOfView(view);
  if (!pass.ok()) return std::move(pass).error();
  base::Result<RankView> comparison =
      ViewOf(input, view, options.selection, pass->index, *options.compare_layer);
  if (!comparison.ok()) return std::move(comparison).error();
  const LayerRow primary_row = RowOf(view, pass->index, layer);
  const LayerRow comparison_row = RowOf(*comparison, pass->index, *options.compare_layer);
  const std::vector<DiffRow> rows = DiffOf(view, *comparison);
  table::RankResult result = StartResult(view);
  result.data = {{"primary", SideObject(view, pass->index, primary_row)},
                 {"comparison", SideObject(*comparison, pass->index, comparison_row)},
                 {"kernel_diff", DiffObject(rows)}};
  result.main_table = "kernel_diff.both";
  const Presentation& presentation = options.presentation;
  if (!presentation.for_people) return result;
  table::Block sides;
  sides.kind = table::Block::Kind::kFacts;
  sides.facts = {
      {fmt::format("layer {}", layer), SideText(view, primary_row)},
      {fmt::format("layer {}", *options.compare_layer), SideText(*comparison, comparison_row)}};
  result.blocks.push_back(std::move(sides));
  table::Table shown = TableOf(rows, layer, *options.compare_layer, presentation.verbose);
  if (base::Status sorted = table::SortBy(shown, presentation.sort); !sorted.ok()) {
    return std::move(sorted).error();
  }
  table::NoteRowsLeftOut(shown, table::LimitRows(shown, presentation.Limit(kRowsForPeople)));
  shown.title = fmt::format("Kernels of layers {} and {} of pass {}, largest difference first",
                            layer, *options.compare_layer, pass->index);
  result.blocks.push_back(table::TableBlock(std::move(shown)));
  return result;
}

}  // namespace

base::Result<Output> CompareLayers(const AnalysisInput& input, const KernelsOptions& options) {
  std::optional<LayerChoice> choice;
  if (options.selection.layer) {
    base::Result<LayerChoice> parsed = ParseLayerChoice(*options.selection.layer);
    if (!parsed.ok()) return std::move(parsed).error();
    choice = *parsed;
  }
  if (!choice || !choice->single()) {
    return base::Error{base::ErrorCode::kUsage,
                       "--compare-layer compares with the one layer of --layer",
                       "--layer 3 --compare-layer 4"};
  }
  if (choice->first == *options.compare_layer) {
    return base::Error{base::ErrorCode::kUsage,
                       fmt::format("--layer {0} --compare-layer {0}: one layer is not compared "
                                   "with itself",
                                   choice->first),
                       "name two layers: --layer 3 --compare-layer 4"};
  }
  return ForEachRank(input, options.selection, [&](const RankView& view) {
    return CompareRank(input, view, options, choice->first);
  });
}

}  // namespace layerscope::analysis

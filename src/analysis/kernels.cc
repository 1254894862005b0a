#include "src/analysis/kernels.h"

#include <fmt/format.h>

#include "src/analysis/abstentions.h"
#include "src/analysis/compiled_table.h"
#include "src/analysis/compute_flow.h"
#include "src/analysis/coverage.h"
#include "src/analysis/fused_columns.h"
#include "src/analysis/inductor_kernels.h"
#include "src/analysis/layer_diff.h"
#include "src/analysis/layer_kernels.h"
#include "src/analysis/module_labels.h"
#include "src/analysis/rank_loop.h"
#include "src/analysis/row_table.h"
#include "src/base/format_number.h"
#include "src/table/limit.h"
#include "src/table/or_null.h"
#include "src/table/sort.h"

namespace layerscope::analysis {
namespace {

using table::Cell;
using table::ColumnSpec;

constexpr int64_t kRowsForPeople = 25;

int64_t AverageNs(const Group& group) {
  return group.n > 0 ? base::DivideHalfEven(group.sum_ns, group.n) : 0;
}

/// What `n` counts: of rows that hold copies and sets beside kernels it is neither alone.
const char* CountTitle(KernelsBy by, bool cpu_only) {
  return cpu_only || NamesKernels(by) ? "n" : "activities";
}

void AddSums(RowTable<KernelRow>& table, int64_t total_ns, const char* count_title) {
  const auto group = [](int64_t Group::*member) {
    return [member](const KernelRow& row) { return row.group.*member; };
  };
  table.Add(Count("n", count_title), group(&Group::n))
      .Add(Share("sum_ns", "sum", total_ns), group(&Group::sum_ns))
      .Add(Nanoseconds("avg_ns", "avg"), [](const KernelRow& row) { return AverageNs(row.group); })
      .Add(Nanoseconds("min_ns", "min", 3), group(&Group::min_ns))
      .Add(Nanoseconds("max_ns", "max", 2), group(&Group::max_ns));
}

std::string TitleOf(KernelsBy by, bool cpu_only) {
  switch (by) {
    case KernelsBy::kName:
      return cpu_only ? "op" : "kernel";
    case KernelsBy::kOp:
    case KernelsBy::kOpDims:
      return "op";
    case KernelsBy::kModule:
      return "module";
    case KernelsBy::kLayer:
      return "layer";
    case KernelsBy::kCategory:
      return "category";
    case KernelsBy::kStream:
      return cpu_only ? "thread" : "stream";
  }
  return "name";
}

/// What machines read: every key of CLI.md, whatever the grouping.
table::Table RowsForMachines(const RankView& view, std::vector<KernelRow> rows, KernelsBy by) {
  RowTable<KernelRow> table(std::move(rows));
  table.AddText(Key("key"), &KernelRow::key)
      .AddText(Key("name", TitleOf(by, view.cpu_only())), &KernelRow::name);
  const auto text = [](std::string KernelRow::*member) {
    return [member](const KernelRow& row) { return table::TextCellOrNull(row.*member); };
  };
  table.Add(Key("short_name"), text(&KernelRow::short_name))
      .Add(Key("category"), text(&KernelRow::category));
  if (by == KernelsBy::kOp || by == KernelsBy::kOpDims) table.AddText(Key("op"), &KernelRow::op);
  if (by == KernelsBy::kOpDims) {
    table.Add(Key("dims", "input dims"), text(&KernelRow::dims));
  }
  AddSums(table, 0, CountTitle(by, view.cpu_only()));
  ColumnSpec evidence{.name = "evidence"};
  table.Add(evidence, [](const KernelRow& row) { return Cell(ToCellMap(row.group.evidence_ns)); });
  if (NamesKernels(by)) AddFusedForMachines(table);
  AddPlace(view, table, &KernelRow::place);
  return table.Take();
}

/// What people read: one name column, the sums, and the category where rows have one.
table::Table RowsForPeople(const RankView& view, std::vector<KernelRow> rows,
                           const KernelsOptions& options) {
  const bool full = options.presentation.verbose;
  for (KernelRow& row : rows) {
    if (!full) row.dims = ShortDims(row.dims);
  }
  const FusedShown<KernelRow> fused(rows, full);
  RowTable<KernelRow> table(std::move(rows));
  ColumnSpec name = Key("name", TitleOf(options.by, view.cpu_only()));
  switch (options.by) {
    case KernelsBy::kName:
    case KernelsBy::kOp:
    case KernelsBy::kOpDims:
      table.AddText(name, full ? &KernelRow::name : &KernelRow::shown_name);
      break;
    case KernelsBy::kModule:
      table.Add(name, [](const KernelRow& row) {
        return row.key.empty() ? std::string_view(kModelPath) : std::string_view(row.key);
      });
      break;
    default:
      table.AddText(name, &KernelRow::name);
      break;
  }
  if (options.by == KernelsBy::kOpDims) {
    table.AddText(Key("dims", "input dims"), &KernelRow::dims);
  }
  AddPlace(view, table, &KernelRow::place);
  AddSums(table, view.total_ns(), CountTitle(options.by, view.cpu_only()));
  if (options.by == KernelsBy::kName) {
    ColumnSpec category{.name = "category"};
    category.priority = 1;
    table.AddText(category, &KernelRow::category);
  }
  fused.AddTo(table);
  return table.Take();
}

table::Object TotalOf(const RankView& view) {
  int64_t n = 0;
  int64_t n_kernels = 0;
  int64_t kernel_ns = 0;
  for (const uint32_t row : view.rows()) {
    n += view.CountOf(row);
    if (!view.IsKernel(row)) continue;
    ++n_kernels;
    kernel_ns += view.activities().dur_ns[row];
  }
  return {
      {"n", n}, {"sum_ns", view.total_ns()}, {"n_kernels", n_kernels}, {"kernel_ns", kernel_ns}};
}

table::Block BlockOf(const RankView& view, table::Table rows) {
  rows.title = fmt::format("{}: {} in {}", view.cpu_only() ? "CPU self time" : "GPU time",
                           base::FormatDuration(view.total_ns()),
                           base::FormatCounted(static_cast<int64_t>(rows.n_rows), "row"));
  std::string other = OtherText(
      view, WithoutCategory(view, RankActivities(view, KernelsBy::kName, Places::kTogether)));
  if (!other.empty()) rows.notes.push_back(std::move(other));
  return table::TableBlock(std::move(rows));
}

/// The kernels of the selected layer one by one: groups of categories, then the longest kernels.
base::Result<table::RankResult> ComputeLayer(const AnalysisInput& input, const RankView& view,
                                             const KernelsOptions& options) {
  table::RankResult result = StartResult(view);
  if (view.rows().empty()) {
    result.abstained = table::Abstention{
        "nothing_ran", "nothing of this layer ran: a capture records launches and has no times",
        "`layerscope ranges` gives the times of its launch calls"};
    result.data = {{"by", "kernel"},
                   {"rows", table::Array()},
                   {"groups", table::Array()},
                   {"total", TotalOf(view)}};
    return result;
  }
  const Presentation& presentation = options.presentation;
  std::vector<LayerKernel> kernels = BuildLayerKernels(view, *view.input().layers, input.profile);
  const InductorKernels inductor(view);
  AddFused(inductor, kernels);
  NoteCompiledRegions(view, inductor, result);
  table::Table rows = LayerKernelsForMachines(view, kernels);
  if (base::Status sorted = table::SortBy(rows, presentation.sort); !sorted.ok()) {
    return std::move(sorted).error();
  }
  const int64_t left_out = table::LimitRows(rows, presentation.Limit(kRowsForPeople));
  table::Table groups = GroupTable(kernels, view.total_ns());
  if (presentation.for_people) {
    table::Table shown_groups = groups;
    shown_groups.title = "By group";
    result.blocks.push_back(table::TableBlock(std::move(shown_groups)));
    table::Table shown =
        LayerKernelsForPeople(view, std::move(kernels), view.total_ns(), presentation.verbose);
    shown.order = rows.order;
    table::NoteRowsLeftOut(shown, left_out);
    result.blocks.push_back(BlockOf(view, std::move(shown)));
  }
  result.data = {{"by", "kernel"},
                 {"rows", std::move(rows)},
                 {"groups", std::move(groups)},
                 {"total", TotalOf(view)}};
  result.main_table = "rows";
  return result;
}

base::Result<table::RankResult> ComputeRank(const RankView& view, const KernelsOptions& options) {
  table::RankResult result = StartResult(view);
  result.abstained = WithoutWork(view);
  if (options.by == KernelsBy::kLayer) {
    base::Result<const layers::LayerStructure*> structure = StructureOf(view.input());
    if (!structure.ok()) return std::move(structure).error();
    if ((*structure)->layers.empty() && (*structure)->abstained) {
      result.abstained = AbstentionOf(view.input());
      result.data = {{"by", "layer"}, {"rows", table::Array()}, {"total", TotalOf(view)}};
      return result;
    }
  }
  const Presentation& presentation = options.presentation;
  std::vector<KernelRow> ranked = RankActivities(view, options.by);
  const InductorKernels inductor(view);
  AddFused(inductor, options.by, ranked);
  NoteCompiledRegions(view, inductor, result);
  table::Table rows = RowsForMachines(view, ranked, options.by);
  if (base::Status sorted = table::SortBy(rows, presentation.sort); !sorted.ok()) {
    return std::move(sorted).error();
  }
  const int64_t left_out = table::LimitRows(rows, presentation.Limit(kRowsForPeople));
  if (presentation.for_people) {
    table::Table shown = RowsForPeople(view, std::move(ranked), options);
    shown.order = rows.order;
    table::NoteRowsLeftOut(shown, left_out);
    result.blocks.push_back(BlockOf(view, std::move(shown)));
  }
  result.data = {{"by", KernelsByNames()[static_cast<size_t>(options.by)]},
                 {"rows", std::move(rows)},
                 {"total", TotalOf(view)}};
  result.main_table = "rows";
  return result;
}

}  // namespace

base::Result<Output> ComputeKernels(const AnalysisInput& input, const KernelsOptions& options) {
  if (options.compare_layer) return CompareLayers(input, options);
  if (options.compute_flow) return ComputeFlow(input, options);
  const bool by_kernel =
      options.selection.layer && !options.by_is_given && options.by == KernelsBy::kName;
  return ForEachRank(input, options.selection, [&](const RankView& view) {
    return by_kernel ? ComputeLayer(input, view, options) : ComputeRank(view, options);
  });
}

}  // namespace layerscope::analysis

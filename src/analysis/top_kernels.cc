#include "src/analysis/top_kernels.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "src/analysis/row_table.h"
#include "src/base/format_number.h"
#include "src/table/limit.h"

namespace layerscope::analysis {
namespace {

/// "By category: 6 of 12, 96.3 %": what the listed rows are of all.
std::string TitleOfTop(std::string_view what, const std::vector<KernelRow>& rows, int64_t limit,
                       int64_t total_ns) {
  const auto n_rows = static_cast<int64_t>(rows.size());
  if (n_rows <= limit) return std::string(what);
  int64_t shown_ns = 0;
  for (int64_t i = 0; i < limit; ++i) shown_ns += rows[static_cast<size_t>(i)].group.sum_ns;
  return fmt::format("{}: {} of {}, {}", what, limit, n_rows,
                     base::FormatShare(shown_ns, total_ns));
}

}  // namespace

table::Table TopKernelTable(const RankView& view, std::vector<KernelRow> rows, int64_t total_ns,
                            int64_t limit) {
  RowTable<KernelRow> builder(std::move(rows));
  table::ColumnSpec key = ForMachines(Key("key"));
  table::ColumnSpec category{.name = "category"};
  category.priority = 1;
  builder.AddText(key, &KernelRow::key)
      .AddText(Key("short_name", view.cpu_only() ? "op" : "kernel"), &KernelRow::short_name)
      .Add(Count("n", "n"), [](const KernelRow& row) { return row.group.n; })
      .Add(Share("sum_ns", "sum", total_ns), [](const KernelRow& row) { return row.group.sum_ns; })
      .AddText(category, &KernelRow::category);
  table::Table table = builder.Take();
  table::LimitRows(table, limit);
  return table;
}

table::Table TopCategoryTable(std::vector<KernelRow> rows, int64_t total_ns, int64_t limit) {
  RowTable<KernelRow> builder(std::move(rows));
  builder.AddText(Key("category"), &KernelRow::category)
      .Add(Count("n", "n"), [](const KernelRow& row) { return row.group.n; })
      .Add(Share("sum_ns", "sum", total_ns), [](const KernelRow& row) { return row.group.sum_ns; })
      .Add(Nanoseconds("max_ns", "longest", 1),
           [](const KernelRow& row) { return row.group.max_ns; });
  table::Table table = builder.Take();
  table::LimitRows(table, limit);
  return table;
}

std::vector<table::Block> TopKernelBlocks(const RankView& view,
                                          const std::vector<KernelRow>& categories,
                                          const std::vector<KernelRow>& kernels,
                                          const std::string& other, int64_t n_rows) {
  std::vector<table::Block> blocks;
  if (kernels.empty()) return blocks;
  const int64_t total_ns = view.total_ns();
  if (!view.cpu_only()) {
    table::Table table = TopCategoryTable(categories, total_ns, n_rows);
    if (!other.empty()) table.notes.push_back(other);
    blocks.push_back(table::TableBlock(TitleOfTop("By category", categories, n_rows, total_ns),
                                       std::move(table)));
  }
  blocks.push_back(table::TableBlock(
      TitleOfTop(view.cpu_only() ? "Top ops" : "Top kernels", kernels, n_rows, total_ns),
      TopKernelTable(view, kernels, total_ns, n_rows)));
  return blocks;
}

}  // namespace layerscope::analysis

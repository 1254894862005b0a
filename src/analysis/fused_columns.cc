#include "src/analysis/fused_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace layerscope::analysis {
namespace {

using table::Cell;
using List = std::vector<std::string> FusedFrom::*;

auto WholeList(List member, bool from_provenance) {
  return [member, from_provenance](const KernelRow& row) -> Cell {
    if (!row.fused || (from_provenance && !row.fused->by_provenance)) return table::Null();
    return table::CellList((*row.fused).*member);
  };
}

/// "a, b, c, d, and 4 more".
auto ShortList(List member, bool full) {
  return [member, full](const KernelRow& row) -> Cell {
    constexpr size_t kShown = 4;
    if (!row.fused) return table::Null();
    table::CellList list = (*row.fused).*member;
    if (full || list.size() <= kShown + 1) return list;
    const size_t more = list.size() - kShown;
    list.resize(kShown);
    list.push_back(fmt::format("and {} more", more));
    return list;
  };
}

table::ColumnSpec FirstToGo(std::string name, std::string title) {
  table::ColumnSpec spec = Key(std::move(name), std::move(title));
  spec.role = table::Role::kPlain;
  spec.priority = 4;
  return spec;
}

}  // namespace

void AddFusedForMachines(RowTable<KernelRow>& table) {
  table.Add(Key("fused_ops"), WholeList(&FusedFrom::ops, false))
      .Add(Key("source_nodes"), WholeList(&FusedFrom::source_nodes, true))
      .Add(Key("graph_ops"), WholeList(&FusedFrom::graph_ops, true))
      .Add(Key("graph_nodes"), WholeList(&FusedFrom::graph_nodes, true))
      .Add(Key("source_modules"), WholeList(&FusedFrom::modules, true))
      .Add(Key("fused_source"), [](const KernelRow& row) -> Cell {
        if (!row.fused) return table::Null();
        return std::string_view(row.fused->by_provenance ? "provenance" : "name");
      });
}

FusedShown::FusedShown(const std::vector<KernelRow>& rows, bool full) : full_(full) {
  for (const KernelRow& row : rows) {
    if (!row.fused) continue;
    ops_ = ops_ || (full && !row.fused->ops.empty());
    nodes_ = nodes_ || !row.fused->source_nodes.empty();
    modules_ = modules_ || !row.fused->modules.empty();
  }
}

void FusedShown::AddTo(RowTable<KernelRow>& table) const {
  if (ops_) table.Add(FirstToGo("fused_ops", "fused ops"), ShortList(&FusedFrom::ops, true));
  if (modules_) {
    table.Add(FirstToGo("source_modules", "from modules"), ShortList(&FusedFrom::modules, full_));
  }
  if (nodes_) {
    table.Add(FirstToGo("source_nodes", "from nodes"), ShortList(&FusedFrom::source_nodes, full_));
  }
}

}  // namespace layerscope::analysis

#include "src/analysis/fused_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "src/analysis/kernel_rows.h"
#include "src/analysis/layer_kernels.h"

namespace layerscope::analysis {
namespace {

using table::Cell;
using List = std::vector<std::string> FusedFrom::*;

template <typename Row>
auto WholeList(List member, bool from_provenance) {
  return [member, from_provenance](const Row& row) -> Cell {
    if (!row.fused || (from_provenance && !row.fused->by_provenance)) return table::Null();
    return table::CellList((*row.fused).*member);
  };
}

/// "a, b, c, d, and 4 more".
template <typename Row>
auto ShortList(List member, bool full) {
  return [member, full](const Row& row) -> Cell {
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

}  // namespace

template <typename Row>
void AddFusedForMachines(RowTable<Row>& table) {
  table.Add(Key("fused_ops"), WholeList<Row>(&FusedFrom::ops, false))
      .Add(Key("source_nodes"), WholeList<Row>(&FusedFrom::source_nodes, true))
      .Add(Key("graph_ops"), WholeList<Row>(&FusedFrom::graph_ops, true))
      .Add(Key("graph_nodes"), WholeList<Row>(&FusedFrom::graph_nodes, true))
      .Add(Key("source_modules"), WholeList<Row>(&FusedFrom::modules, true))
      .Add(Key("fused_source"), [](const Row& row) -> Cell {
        if (!row.fused) return table::Null();
        return std::string_view(row.fused->by_provenance ? "provenance" : "name");
      });
}

template <typename Row>
FusedShown<Row>::FusedShown(const std::vector<Row>& rows, bool full) : full_(full) {
  for (const Row& row : rows) {
    if (!row.fused) continue;
    ops_ = ops_ || (full && !row.fused->ops.empty());
    nodes_ = nodes_ || !row.fused->source_nodes.empty();
    modules_ = modules_ || !row.fused->modules.empty();
  }
}

template <typename Row>
void FusedShown<Row>::AddTo(RowTable<Row>& table) const {
  if (ops_) table.Add(Key("fused_ops", "fused ops"), ShortList<Row>(&FusedFrom::ops, true));
  if (modules_) {
    table.Add(Key("source_modules", "from modules"), ShortList<Row>(&FusedFrom::modules, full_));
  }
  if (nodes_) {
    table.Add(Key("source_nodes", "from nodes"), ShortList<Row>(&FusedFrom::source_nodes, full_));
  }
}

template void AddFusedForMachines(RowTable<KernelRow>& table);
template void AddFusedForMachines(RowTable<LayerKernel>& table);
template class FusedShown<KernelRow>;
template class FusedShown<LayerKernel>;

}  // namespace layerscope::analysis

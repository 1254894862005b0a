#include "src/analysis/layer_rows.h"

#include <algorithm>
#include <array>
#include <map>

#include "src/analysis/structure_text.h"
#include "src/table/or_null.h"

namespace layerscope::analysis {
namespace {

using table::Cell;

constexpr std::array<std::string_view, 8> kFirstGroups = {"MLA",  "attention", "Linear", "MoE",
                                                          "GEMM", "NCCL",      "MHC",    "Hadam"};

auto Of(int64_t LayerSums::*member) {
  return [member](const LayerRow& row) { return row.sums.*member; };
}

/// Unknown for a layer that did not run.
template <typename Get>
auto IfRan(Get get) {
  return [get](const LayerRow& row) -> Cell {
    if (!row.ran()) return table::Null();
    return get(row.sums);
  };
}

/// For people: nothing where there is none.
template <typename Get>
auto IfAny(Get get) {
  return [get](const LayerRow& row) -> Cell {
    const int64_t value = get(row);
    return value != 0 ? Cell(value) : Cell(table::Null());
  };
}

Cell Captured(const LayerRow& row) {
  if (!row.layer.first_captured_launch) return table::Null();
  return row.layer.n_captured_launches;
}

}  // namespace

std::vector<LayerRow> BuildLayerRows(const layers::LayerStructure& structure,
                                     const StructureSums& sums, size_t pass) {
  std::vector<LayerRow> rows;
  const layers::Pass& source = structure.passes[pass];
  for (uint32_t k = 0; k < source.n_layers; ++k) {
    const layers::Layer& layer = structure.layers[source.first_layer + k];
    const std::string_view type = layer.type < structure.types.size()
                                      ? std::string_view(structure.types[layer.type])
                                      : std::string_view();
    rows.push_back({layer, type, sums.layers[source.first_layer + k]});
  }
  return rows;
}

std::vector<std::string> GroupsOf(const kernel_names::RuleSet& rules, const CategorySums& sums) {
  std::map<std::string, int64_t> ns_of;
  for (const auto& [category, ns] : sums.sums()) ns_of[rules.category(category).group] += ns;
  std::vector<std::string> groups;
  const auto take = [&](const std::string& group) {
    const auto found = ns_of.find(group);
    if (found == ns_of.end()) return;
    groups.push_back(group);
    ns_of.erase(found);
  };
  for (const std::string_view group : kFirstGroups) take(std::string(group));
  const bool has_other = ns_of.erase("other") > 0;
  std::vector<std::pair<std::string, int64_t>> rest(ns_of.begin(), ns_of.end());
  std::stable_sort(rest.begin(), rest.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [group, ns] : rest) groups.push_back(group);
  if (has_other) groups.emplace_back("other");
  return groups;
}

table::Table LayerTableForMachines(const RankView& view, std::vector<LayerRow> rows) {
  RowTable<LayerRow> table(std::move(rows));
  table.Add({.name = "index"}, [](const LayerRow& row) { return int64_t{row.layer.index}; })
      .Add({.name = "type"}, [](const LayerRow& row) { return row.type; })
      .Add({.name = "flags"}, [](const LayerRow& row) { return FlagNames(row.layer.flags); })
      .Add({.name = "ratio"},
           [](const LayerRow& row) { return table::CellOrNull(row.layer.ratio); })
      .Add({.name = "start_ns"},
           [](const LayerRow& row) { return table::CellOrNull(row.start_ns()); })
      .Add({.name = "end_ns"}, [](const LayerRow& row) { return table::CellOrNull(row.end_ns()); })
      .Add({.name = "wall_ns"}, IfRan([](const LayerSums& s) { return s.span.wall_ns(); }))
      .Add({.name = "sum_ns"}, Of(&LayerSums::sum_ns))
      .Add({.name = "busy_ns"}, IfRan([](const LayerSums& s) { return s.busy.busy_ns(); }))
      .Add({.name = "n_kernels"}, Of(&LayerSums::n_kernels))
      .Add({.name = "copy_ns"}, Of(&LayerSums::copy_ns))
      .Add({.name = "n_copies"}, Of(&LayerSums::n_copies))
      .Add({.name = "n_anchors"}, Of(&LayerSums::n_anchors))
      .Add({.name = "n_allreduce"}, Of(&LayerSums::n_allreduce))
      .Add({.name = "n_foreign"}, Of(&LayerSums::n_foreign))
      .Add({.name = "foreign_ns"}, Of(&LayerSums::foreign_ns))
      .Add({.name = "first_kernel"},
           [](const LayerRow& row) { return table::CellOrNull(row.sums.first_kernel); })
      .Add({.name = "first_captured_launch"},
           [](const LayerRow& row) { return table::CellOrNull(row.layer.first_captured_launch); })
      .Add({.name = "n_captured_launches"}, Captured)
      .Add({.name = "by_category"}, [rules = &view.rules()](const LayerRow& row) {
        return Cell(row.sums.by_category.ByName(*rules));
      });
  return table.Take();
}

table::Table LayerTableForPeople(const RankView& view, std::vector<LayerRow> rows,
                                 const std::vector<std::string>& groups) {
  // FIRST and FINAL show by themselves; a cut layer does not.
  const bool any_cut =
      std::any_of(rows.begin(), rows.end(), [](const LayerRow& row) { return row.cut(); });
  const bool any_ratio = std::any_of(
      rows.begin(), rows.end(), [](const LayerRow& row) { return row.layer.ratio.has_value(); });
  const bool any_all_reduce = std::any_of(
      rows.begin(), rows.end(), [](const LayerRow& row) { return row.sums.n_allreduce > 0; });
  RowTable<LayerRow> table(std::move(rows));
  table
      .Add({.name = "index", .title = "L"},
           [](const LayerRow& row) { return int64_t{row.layer.index}; })
      .Add({.name = "ratio", .title = "c_r"},
           [](const LayerRow& row) { return table::CellOrNull(row.layer.ratio); })
      .Add({.name = "type"}, [](const LayerRow& row) { return row.type; })
      .Add({.name = "flags", .priority = any_cut ? 0 : 3},
           [](const LayerRow& row) -> Cell {
             if (row.layer.flags == 0) return table::Null();
             return FlagNames(row.layer.flags);
           })
      .Add(Nanoseconds("wall_ns", "wall"),
           IfRan([](const LayerSums& s) { return s.span.wall_ns(); }))
      .Add(Nanoseconds("sum_ns", "kernel sum"), IfRan([](const LayerSums& s) { return s.sum_ns; }));
  AddGroupColumns(view.rules(), groups, table,
                  [](const LayerRow& row) -> const CategorySums& { return row.sums.by_category; });
  table
      .Add(Count("n_allreduce", "AR#", 1),
           IfAny([](const LayerRow& r) { return r.sums.n_allreduce; }))
      .Add(Count("n_kernels", "K#"), IfRan([](const LayerSums& s) { return s.n_kernels; }))
      .Add(Count("n_copies", "copies", 4), IfAny([](const LayerRow& r) { return r.sums.n_copies; }))
      .Add(Count("n_foreign", "foreign", 2),
           IfAny([](const LayerRow& r) { return r.sums.n_foreign; }))
      .Add(Count("n_captured_launches", "launches"), Captured)
      .Add(Count("first_captured_launch", "first launch"),
           [](const LayerRow& row) { return table::CellOrNull(row.layer.first_captured_launch); });
  table::Table built = table.Take();
  built.notes.push_back(std::string("kernel sum: of kernels alone; K#: kernels") +
                        (any_all_reduce ? "; AR#: all-reduce kernels" : "") +
                        (any_ratio ? "; c_r: the config's compress ratio" : ""));
  return built;
}

}  // namespace layerscope::analysis

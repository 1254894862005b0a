#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/layer_sums.h"
#include "src/analysis/rank_view.h"
#include "src/analysis/row_table.h"
#include "src/layers/layer_structure.h"

namespace layerscope::analysis {

/// One layer of one pass with its sums.
struct LayerRow {
  layers::Layer layer;
  std::string_view type;  ///< of the structure
  LayerSums sums;
  bool ran() const { return sums.n() > 0; }
  /// Of what ran; of a capture's layer, which did not, those of its launch calls.
  std::optional<int64_t> start_ns() const {
    return ran() ? sums.span.first_ns() : layer.captured_start_ns;
  }
  std::optional<int64_t> end_ns() const {
    return ran() ? sums.span.last_ns() : layer.captured_end_ns;
  }
  bool cut() const { return (layer.flags & layers::kLayerCut) != 0; }
};

/// The layers of a pass by index.
std::vector<LayerRow> BuildLayerRows(const layers::LayerStructure& structure,
                                     const StructureSums& sums, size_t pass);

/// The groups of the categories in `sums`, as columns: attention and its kin, MoE, GEMM, NCCL, MHC,
/// Hadam first, then the others by time, `other` last.
std::vector<std::string> GroupsOf(const kernel_names::RuleSet& rules, const CategorySums& sums);

/// One time column a group. `sums_of(const Row&)` gives the row's CategorySums.
template <typename Row, typename SumsOf>
void AddGroupColumns(const kernel_names::RuleSet& rules, const std::vector<std::string>& groups,
                     RowTable<Row>& table, SumsOf sums_of) {
  int place = 0;
  for (const std::string& group : groups) {
    // Beyond the first few, groups are what a narrow terminal can do without.
    const int priority = group == "other" ? 3 : (place++ < 4 ? 1 : 2);
    table.Add(Nanoseconds(group + "_ns", group, priority),
              [&rules, group, sums_of](const Row& row) {
                return table::Cell(sums_of(row).OfGroup(rules, group));
              });
  }
}

/// What machines read: every key of CLI.md.
table::Table LayerTableForMachines(const RankView& view, std::vector<LayerRow> rows);
/// What people read; `groups` of GroupsOf.
table::Table LayerTableForPeople(const RankView& view, std::vector<LayerRow> rows,
                                 const std::vector<std::string>& groups);

}  // namespace layerscope::analysis

#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "src/analysis/interval_union.h"
#include "src/analysis/rank_view.h"
#include "src/kernel_names/rule_set.h"
#include "src/layers/layer_structure.h"
#include "src/table/column.h"

namespace layerscope::analysis {

/// Nanoseconds by category, kernels and copies together. Few of the categories occur in a layer, so
/// only those are kept.
class CategorySums {
 public:
  void Add(kernel_names::CategoryId category, int64_t ns);
  void Add(const CategorySums& other);
  /// By category's name, in the order of the rules.
  table::CellMap ByName(const kernel_names::RuleSet& rules) const;
  int64_t OfGroup(const kernel_names::RuleSet& rules, std::string_view group) const;
  const std::vector<std::pair<kernel_names::CategoryId, int64_t>>& sums() const { return sums_; }

 private:
  std::vector<std::pair<kernel_names::CategoryId, int64_t>> sums_;
};

/// The selected activities of a layer, a head, a tail or a pass. `sum_ns` and `n_kernels` are
/// kernels alone; span and busy cover copies, sets and whole graphs too.
struct PartSums {
  int64_t n_kernels = 0;
  int64_t sum_ns = 0;
  int64_t n_copies = 0;
  int64_t copy_ns = 0;
  int64_t n_graphs = 0;  ///< graphs recorded without their kernels
  int64_t graph_ns = 0;
  TimeSpan span;
  IntervalUnion busy;
  CategorySums by_category;
  int64_t total_ns() const { return sum_ns + copy_ns + graph_ns; }
  int64_t n() const { return n_kernels + n_copies + n_graphs; }
};

struct LayerSums : PartSums {
  int64_t n_anchors = 0;
  int64_t n_allreduce = 0;
  int64_t n_foreign = 0;
  int64_t foreign_ns = 0;
  /// Ordinal of its first kernel among all kernels of the device by (ts, file order).
  std::optional<int64_t> first_kernel;
  /// Equal for layers of equal kernels, whatever their order: streams may interleave them.
  uint64_t kernels_hash = 0;
};

struct PassSums : PartSums {
  PartSums head;
  PartSums tail;
};

/// What no pass holds.
struct OutsideSums {
  int64_t gpu_ns = 0;
  int64_t kernels = 0;
  int64_t activities = 0;
};

/// The selected activities by pass and layer.
struct StructureSums {
  std::vector<PassSums> passes;   ///< as LayerStructure::passes
  std::vector<LayerSums> layers;  ///< as LayerStructure::layers
  OutsideSums outside;
};

/// Sums the view's rows. LS_CHECKs that layers, head and tail add up to their pass, and passes and
/// outside to the view's total. Foreign activities are outside; layers only count them.
StructureSums SumStructure(const RankView& view, const layers::LayerStructure& structure);

}  // namespace layerscope::analysis

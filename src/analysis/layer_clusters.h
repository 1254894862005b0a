#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "src/analysis/layer_rows.h"
#include "src/analysis/rank_view.h"
#include "src/table/table.h"
#include "src/table/value.h"

namespace layerscope::analysis {

/// The whole layers of one type. Averages are rounded half-even.
struct Cluster {
  std::string_view type;
  int64_t n = 0;
  int64_t avg_wall_ns = 0;
  int64_t median_wall_ns = 0;  ///< the lower of the two in the middle
  int64_t avg_sum_ns = 0;
  int64_t wall_ns = 0;  ///< of all its layers
  int64_t busy_ns = 0;
  int64_t sum_ns = 0;  ///< kernels and copies of all its layers
  int64_t n_kernels = 0;
  /// Sets of kernels that its layers run: more than one where layers of one type differ.
  int64_t n_variants = 0;
  /// Its layers that do not run the set that most of them run.
  std::vector<int32_t> other_layers;
  /// Layer 0, where it takes several times the median wall of its type; else 0.
  int64_t first_wall_ns = 0;
  int32_t example = 0;  ///< index of its layer with the median wall, the earlier of two
  CategorySums by_category;
};

/// By first appearance. Cut layers, and layers that did not run, are in no cluster.
std::vector<Cluster> BuildClusters(const std::vector<LayerRow>& rows);

table::Table ClusterTableForMachines(const RankView& view, std::vector<Cluster> clusters);
/// Shares of the groups are of the cluster's own time; the cluster's share is of `pass_ns`.
table::Table ClusterTableForPeople(const RankView& view, std::vector<Cluster> clusters,
                                   const std::vector<std::string>& groups, int64_t pass_ns);

/// "kernels differ within a type: layer 0 from the other 35 of A"; empty when none do.
std::string VariantsText(const std::vector<Cluster>& clusters);
/// "layer 0 is 5.5x its type's median: host start-up"; empty when it is not.
std::string FirstLayerText(const std::vector<Cluster>& clusters);
/// What the shares of ClusterTableForPeople are of.
std::string_view ClusterSharesText();

/// One line: the layer type with the most wall time, of medians, or with the most GPU time where
/// the layers mostly wait; what it spends it on, and the likely next target; empty without
/// clusters.
std::string BottleneckText(const RankView& view, const std::vector<Cluster>& clusters,
                           int64_t pass_wall_ns);

}  // namespace layerscope::analysis

#include "src/analysis/layer_clusters.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "src/base/format_number.h"

namespace layerscope::analysis {
namespace {

using table::Cell;

constexpr int64_t kPartsOfWhole = 1'000'000;
/// A type whose layers wait for more than this part of their wall is not bound by its kernels.
constexpr int64_t kIdleShare = 4;

int64_t Ppm(int64_t part, int64_t whole) {
  if (whole <= 0) return 0;
  // Beyond 2^63 / 10^6 ns (2.6 hours) the share is taken of milliseconds.
  constexpr int64_t kLargest = int64_t{9'000'000'000'000};
  if (part > kLargest)
    return base::DivideHalfEven(part / kPartsOfWhole * kPartsOfWhole,
                                std::max<int64_t>(whole / kPartsOfWhole, 1));
  return base::DivideHalfEven(part * kPartsOfWhole, whole);
}

/// The layer with the median wall, the lower of the two in the middle.
int32_t ExampleOf(std::vector<const LayerRow*> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const LayerRow* a, const LayerRow* b) {
    return a->sums.span.wall_ns() < b->sums.span.wall_ns();
  });
  return rows[(rows.size() - 1) / 2]->layer.index;
}

Cluster ClusterOf(std::string_view type, const std::vector<const LayerRow*>& rows) {
  Cluster cluster;
  cluster.type = type;
  std::set<uint64_t> variants;
  int64_t kernels_ns = 0;
  for (const LayerRow* row : rows) {
    ++cluster.n;
    cluster.wall_ns += row->sums.span.wall_ns();
    cluster.busy_ns += row->sums.busy.busy_ns();
    cluster.sum_ns += row->sums.total_ns();
    kernels_ns += row->sums.sum_ns;
    cluster.n_kernels += row->sums.n_kernels;
    cluster.by_category.Add(row->sums.by_category);
    variants.insert(row->sums.kernels_hash);
  }
  cluster.avg_wall_ns = base::DivideHalfEven(cluster.wall_ns, cluster.n);
  cluster.avg_sum_ns = base::DivideHalfEven(kernels_ns, cluster.n);
  cluster.n_variants = static_cast<int64_t>(variants.size());
  cluster.example = ExampleOf(rows);
  return cluster;
}

const Cluster* Largest(const std::vector<Cluster>& clusters) {
  const Cluster* largest = nullptr;
  for (const Cluster& cluster : clusters) {
    if (largest == nullptr || cluster.wall_ns > largest->wall_ns) largest = &cluster;
  }
  return largest;
}

std::pair<std::string, int64_t> LargestCategory(const RankView& view, const Cluster& cluster) {
  std::pair<std::string, int64_t> largest;
  for (const auto& [category, ns] : cluster.by_category.sums()) {
    if (ns > largest.second) largest = {view.rules().category(category).name, ns};
  }
  return largest;
}

}  // namespace

std::vector<Cluster> BuildClusters(const std::vector<LayerRow>& rows) {
  std::vector<std::string_view> types;
  std::map<std::string_view, std::vector<const LayerRow*>> rows_of;
  for (const LayerRow& row : rows) {
    if (row.cut() || !row.ran()) continue;
    std::vector<const LayerRow*>& of_type = rows_of[row.type];
    if (of_type.empty()) types.push_back(row.type);
    of_type.push_back(&row);
  }
  std::vector<Cluster> clusters;
  for (const std::string_view type : types) clusters.push_back(ClusterOf(type, rows_of[type]));
  return clusters;
}

table::Table ClusterTableForMachines(const RankView& view, std::vector<Cluster> clusters) {
  RowTable<Cluster> table(std::move(clusters));
  table.Add({.name = "type"}, [](const Cluster& row) { return row.type; })
      .AddInt({.name = "n"}, &Cluster::n)
      .AddInt({.name = "avg_wall_ns"}, &Cluster::avg_wall_ns)
      .AddInt({.name = "avg_sum_ns"}, &Cluster::avg_sum_ns)
      .AddInt({.name = "wall_ns"}, &Cluster::wall_ns)
      .AddInt({.name = "gpu_ns"}, &Cluster::sum_ns)
      .AddInt({.name = "n_kernels"}, &Cluster::n_kernels)
      .AddInt({.name = "n_variants"}, &Cluster::n_variants)
      .Add({.name = "example"}, [](const Cluster& row) { return int64_t{row.example}; })
      .Add({.name = "by_category"}, [rules = &view.rules()](const Cluster& row) {
        return Cell(row.by_category.ByName(*rules));
      });
  return table.Take();
}

table::Table ClusterTableForPeople(const RankView& view, std::vector<Cluster> clusters,
                                   const std::vector<std::string>& groups, int64_t pass_ns) {
  RowTable<Cluster> table(std::move(clusters));
  table.Add({.name = "type"}, [](const Cluster& row) { return row.type; })
      .AddInt(Count("n", "layers"), &Cluster::n)
      .AddInt(Nanoseconds("avg_wall_ns", "avg wall"), &Cluster::avg_wall_ns)
      .AddInt(Nanoseconds("avg_sum_ns", "avg sum"), &Cluster::avg_sum_ns)
      .Add(Nanoseconds("pass_ppm", "of pass"),
           [pass_ns](const Cluster& row) { return Ppm(row.sum_ns, pass_ns); });
  int place = 0;
  for (const std::string& group : groups) {
    table::ColumnSpec spec = Nanoseconds(group + "_ppm", group + " %", place++ < 4 ? 1 : 2);
    table.Add(spec, [rules = &view.rules(), group](const Cluster& row) {
      return Ppm(row.by_category.OfGroup(*rules, group), row.sum_ns);
    });
  }
  table::Table built = table.Take();
  for (table::Column& column : built.columns) {
    if (column.spec.name.ends_with("_ppm")) column.spec.unit = table::Unit::kPartsPerMillion;
  }
  return built;
}

std::string VariantsText(const std::vector<Cluster>& clusters) {
  std::vector<std::string> parts;
  for (const Cluster& cluster : clusters) {
    if (cluster.n_variants < 2) continue;
    parts.push_back(fmt::format("{} has {} in {}", cluster.type,
                                base::FormatCounted(cluster.n_variants, "set"),
                                base::FormatCounted(cluster.n, "layer")));
  }
  if (parts.empty()) return {};
  return fmt::format("kernels differ within a type: {}", fmt::join(parts, "; "));
}

std::string BottleneckText(const RankView& view, const std::vector<Cluster>& clusters,
                           int64_t pass_wall_ns) {
  const Cluster* const top = Largest(clusters);
  if (top == nullptr || top->sum_ns <= 0) return {};
  const auto [category, ns] = LargestCategory(view, *top);
  const std::string text = fmt::format(
      "type {} ({}, {} of the pass's wall time), {} of its GPU time is {}", top->type,
      base::FormatCounted(top->n, "layer"), base::FormatShare(top->wall_ns, pass_wall_ns),
      base::FormatShare(ns, top->sum_ns), category);
  const int64_t waiting_ns = top->wall_ns - top->busy_ns;
  if (waiting_ns > top->wall_ns / kIdleShare) {
    return fmt::format(
        "{}; next target: gaps, nothing runs in {} of its wall time (host or launch "
        "bound)",
        text, base::FormatShare(waiting_ns, top->wall_ns));
  }
  return fmt::format("{}; next target: {}, see layer {}", text, category, top->example);
}

}  // namespace layerscope::analysis

#include "src/analysis/layer_clusters.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "src/base/format_number.h"

namespace layerscope::analysis {
namespace {

using table::Cell;

/// A type whose layers wait for more than this part of their wall is not bound by its kernels.
constexpr int64_t kIdleShare = 4;

/// A layer 0 of so many times its type's median, in percent, is the host's start-up, not the layer.
constexpr int64_t kOutlierPercent = 200;
/// As many layers as a line of notes names.
constexpr size_t kLayersInNote = 6;

/// The layer with the median wall, the lower of the two in the middle.
const LayerRow& MedianOf(std::vector<const LayerRow*> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const LayerRow* a, const LayerRow* b) {
    return a->sums.span.wall_ns() < b->sums.span.wall_ns();
  });
  return *rows[(rows.size() - 1) / 2];
}

/// Layers whose kernels are not those that most layers of the type run.
std::vector<int32_t> OthersOf(const std::vector<const LayerRow*>& rows,
                              const std::map<uint64_t, int64_t>& variants) {
  const auto most =
      std::max_element(variants.begin(), variants.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<int32_t> others;
  for (const LayerRow* row : rows) {
    if (row->sums.kernels_hash != most->first) others.push_back(row->layer.index);
  }
  return others;
}

Cluster ClusterOf(std::string_view type, const std::vector<const LayerRow*>& rows) {
  Cluster cluster;
  cluster.type = type;
  std::map<uint64_t, int64_t> variants;
  int64_t kernels_ns = 0;
  for (const LayerRow* row : rows) {
    ++cluster.n;
    cluster.wall_ns += row->sums.span.wall_ns();
    cluster.busy_ns += row->sums.busy.busy_ns();
    cluster.sum_ns += row->sums.total_ns();
    kernels_ns += row->sums.sum_ns;
    cluster.n_kernels += row->sums.n_kernels;
    cluster.by_category.Add(row->sums.by_category);
    ++variants[row->sums.kernels_hash];
  }
  cluster.avg_wall_ns = base::DivideHalfEven(cluster.wall_ns, cluster.n);
  cluster.avg_sum_ns = base::DivideHalfEven(kernels_ns, cluster.n);
  cluster.n_variants = static_cast<int64_t>(variants.size());
  cluster.other_layers = OthersOf(rows, variants);
  const LayerRow& median = MedianOf(rows);
  cluster.example = median.layer.index;
  cluster.median_wall_ns = median.sums.span.wall_ns();
  const LayerRow& first = *rows.front();
  const int64_t first_ns = first.sums.span.wall_ns();
  if (first.layer.index == 0 && cluster.n > 2 &&
      first_ns / kOutlierPercent > cluster.median_wall_ns / 100) {
    cluster.first_wall_ns = first_ns;
  }
  return cluster;
}

/// A wall as most of its layers have it: n times the median, unless the type is one or two layers.
int64_t UsualWall(const Cluster& cluster) {
  int64_t usual_ns = 0;
  const bool fits = !__builtin_mul_overflow(cluster.median_wall_ns, cluster.n, &usual_ns);
  return fits && cluster.n > 2 ? usual_ns : cluster.wall_ns;
}

/// Gaps are the host's: where they dominate, walls rank hosts and not layers.
bool GapsDominate(const std::vector<Cluster>& clusters) {
  int64_t wall_ns = 0;
  int64_t busy_ns = 0;
  for (const Cluster& cluster : clusters) {
    wall_ns += cluster.wall_ns;
    busy_ns += cluster.busy_ns;
  }
  return busy_ns < wall_ns / 2;
}

const Cluster* Largest(const std::vector<Cluster>& clusters, bool by_sum) {
  const auto weight = [by_sum](const Cluster& cluster) {
    return by_sum ? cluster.sum_ns : UsualWall(cluster);
  };
  const Cluster* largest = nullptr;
  for (const Cluster& cluster : clusters) {
    if (largest == nullptr || weight(cluster) > weight(*largest)) largest = &cluster;
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

/// The place of each group by its time over all clusters, from 0.
std::vector<int> PlacesBySum(const RankView& view, const std::vector<Cluster>& clusters,
                             const std::vector<std::string>& groups) {
  std::vector<std::pair<int64_t, size_t>> sums;
  for (size_t i = 0; i < groups.size(); ++i) {
    int64_t ns = 0;
    for (const Cluster& cluster : clusters) {
      ns += cluster.by_category.OfGroup(view.rules(), groups[i]);
    }
    sums.emplace_back(-ns, i);
  }
  std::sort(sums.begin(), sums.end());
  std::vector<int> places(groups.size(), 0);
  for (size_t place = 0; place < sums.size(); ++place) {
    places[sums[place].second] = static_cast<int>(place);
  }
  return places;
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
      .AddInt({.name = "median_wall_ns"}, &Cluster::median_wall_ns)
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
  const std::vector<int> places = PlacesBySum(view, clusters, groups);
  RowTable<Cluster> table(std::move(clusters));
  table.Add({.name = "type"}, [](const Cluster& row) { return row.type; })
      .AddInt(Count("n", "layers"), &Cluster::n)
      .AddInt(Nanoseconds("avg_wall_ns", "avg wall", 3), &Cluster::avg_wall_ns)
      .AddInt(Nanoseconds("median_wall_ns", "median wall"), &Cluster::median_wall_ns)
      .AddInt(Nanoseconds("avg_sum_ns", "avg kernel sum", 3), &Cluster::avg_sum_ns)
      .Add(Nanoseconds("pass_ppm", "of pass"),
           [pass_ns](const Cluster& row) { return base::PartsPerMillion(row.sum_ns, pass_ns); });
  for (size_t i = 0; i < groups.size(); ++i) {
    const std::string& group = groups[i];
    // On a narrow terminal the group with the least time goes first.
    const table::ColumnSpec spec = Nanoseconds(group + "_ppm", group + " %", 1 + places[i]);
    table.Add(spec, [rules = &view.rules(), group](const Cluster& row) {
      return base::PartsPerMillion(row.by_category.OfGroup(*rules, group), row.sum_ns);
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
    const std::vector<int32_t>& others = cluster.other_layers;
    const size_t shown = std::min(others.size(), kLayersInNote);
    const auto n_others = static_cast<int64_t>(others.size());
    parts.push_back(fmt::format(
        "layer{} {}{} from the other {}of {}", shown == 1 ? "" : "s",
        fmt::join(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
        shown < others.size() ? fmt::format(", … ({} in all)", n_others) : std::string(),
        cluster.n - n_others == 1 ? "one " : fmt::format("{} ", cluster.n - n_others),
        cluster.type));
  }
  if (parts.empty()) return {};
  return fmt::format("kernels differ within a type: {}", fmt::join(parts, "; "));
}

std::string FirstLayerText(const std::vector<Cluster>& clusters) {
  for (const Cluster& cluster : clusters) {
    if (cluster.first_wall_ns == 0 || cluster.median_wall_ns <= 0) continue;
    const double times =
        static_cast<double>(cluster.first_wall_ns) / static_cast<double>(cluster.median_wall_ns);
    return fmt::format("layer 0 is {:.1f}x its type's median: host start-up", times);
  }
  return {};
}

std::string_view ClusterSharesText() {
  return "of pass: of the pass's kernels and copies; a group's %: of the type's kernels and copies";
}

std::string BottleneckText(const RankView& view, const std::vector<Cluster>& clusters,
                           int64_t pass_wall_ns) {
  const bool gaps = GapsDominate(clusters);
  const Cluster* const top = Largest(clusters, gaps);
  if (top == nullptr || top->sum_ns <= 0) return {};
  const auto [category, ns] = LargestCategory(view, *top);
  int64_t layers_ns = 0;
  for (const Cluster& cluster : clusters) layers_ns += cluster.sum_ns;
  const std::string share =
      gaps ? base::FormatShare(top->sum_ns, layers_ns) + " of the layers' GPU time"
           : base::FormatShare(top->wall_ns, pass_wall_ns) + " of the pass's wall time";
  std::string text = fmt::format("type {} ({}, {}), {} of its GPU time is {}", top->type,
                                 base::FormatCounted(top->n, "layer"), share,
                                 base::FormatShare(ns, top->sum_ns), category);
  if (const std::string first = FirstLayerText(clusters); !first.empty()) text += "; " + first;
  const int64_t waiting_ns = top->wall_ns - top->busy_ns;
  if (gaps || waiting_ns > top->wall_ns / kIdleShare) {
    return fmt::format(
        "{}; next target: gaps, nothing runs in {} of its wall time (host or launch "
        "bound)",
        text, base::FormatShare(waiting_ns, top->wall_ns));
  }
  return fmt::format("{}; next target: {}, see layer {}", text, category, top->example);
}

}  // namespace layerscope::analysis

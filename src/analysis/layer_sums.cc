#include "src/analysis/layer_sums.h"

#include <algorithm>

#include "src/analysis/all_reduce.h"
#include "src/base/check.h"
#include "src/base/hash.h"

namespace layerscope::analysis {
namespace {

using layers::LayerStructure;
using layers::PassPart;

/// Says of names whether they are an all-reduce; each is read once.
class AllReduceNames {
 public:
  explicit AllReduceNames(const trace::Trace& trace)
      : trace_(trace), known_(trace.strings.size(), kUnread) {}
  bool Is(trace::StringId name) {
    uint8_t& known = known_[name.index()];
    if (known == kUnread) known = IsAllReduce(trace_.strings[name]) ? 1 : 0;
    return known == 1;
  }

 private:
  static constexpr uint8_t kUnread = 2;
  const trace::Trace& trace_;
  std::vector<uint8_t> known_;
};

class Summer {
 public:
  Summer(const RankView& view, const LayerStructure& structure)
      : view_(view), structure_(structure), all_reduce_(view.trace()) {
    sums_.passes.resize(structure.passes.size());
    sums_.layers.resize(structure.layers.size());
  }

  StructureSums Sum() {
    // Unions want their intervals by start.
    const std::vector<uint32_t> rows = view_.RowsByDeviceAndStart();
    for (const uint32_t row : rows) Add(row);
    CountOrdinals(
        view_.selects_all() ? rows : RankView(view_.input(), view_.rules()).RowsByDeviceAndStart());
    Check();
    return std::move(sums_);
  }

 private:
  void Add(uint32_t row) {
    if (structure_.foreign[row] != 0) AddForeign(row);
    const layers::PassId pass = structure_.pass[row];
    if (!pass.valid()) {
      sums_.outside.gpu_ns += view_.activities().dur_ns[row];
      sums_.outside.kernels += view_.IsKernel(row) ? 1 : 0;
      ++sums_.outside.activities;
      return;
    }
    PassSums& sums = sums_.passes[pass.index()];
    AddTo(sums, row);
    if (const layers::LayerId layer = structure_.layer[row]; layer.valid()) {
      AddToLayer(sums_.layers[layer.index()], row);
    } else {
      AddTo(structure_.part[row] == PassPart::kTail ? sums.tail : sums.head, row);
    }
  }

  void AddTo(PartSums& sums, uint32_t row) const {
    const int64_t start_ns = view_.activities().start_ns[row];
    const int64_t dur_ns = view_.activities().dur_ns[row];
    const bool is_kernel = view_.IsKernel(row);
    const bool is_graph = view_.activities().kind[row] == trace::ActivityKind::kGraph;
    (is_kernel ? sums.n_kernels : is_graph ? sums.n_graphs : sums.n_copies) += 1;
    (is_kernel ? sums.sum_ns : is_graph ? sums.graph_ns : sums.copy_ns) += dur_ns;
    sums.span.Add(start_ns, dur_ns);
    sums.busy.Add(start_ns, dur_ns);
    const trace::StringId name = view_.activities().name[row];
    sums.by_category.Add(view_.attribution().category_of_name[name.index()], dur_ns);
  }

  void AddToLayer(LayerSums& sums, uint32_t row) {
    AddTo(sums, row);
    if (!view_.IsKernel(row)) return;
    const trace::StringId name = view_.activities().name[row];
    sums.kernels_hash += base::Mix(name.index() + 1);
    if (all_reduce_.Is(name)) ++sums.n_allreduce;
    const std::vector<uint8_t>& anchors = structure_.anchor_name;
    if (name.index() < anchors.size() && anchors[name.index()] != 0) ++sums.n_anchors;
  }

  void AddForeign(uint32_t row) {
    const layers::LayerId layer = structure_.layer[row];
    if (!layer.valid()) return;
    ++sums_.layers[layer.index()].n_foreign;
    sums_.layers[layer.index()].foreign_ns += view_.activities().dur_ns[row];
  }

  /// Ordinals count the kernels of the file, whatever is selected.
  void CountOrdinals(const std::vector<uint32_t>& all_rows) {
    std::vector<uint8_t> selected(view_.activities().size(), 0);
    for (const uint32_t row : view_.rows()) selected[row] = 1;
    int64_t ordinal = 0;
    trace::DeviceId device;
    for (const uint32_t row : all_rows) {
      if (!view_.IsKernel(row)) continue;
      if (view_.DeviceOf(row) != device) ordinal = 0;
      device = view_.DeviceOf(row);
      const layers::LayerId layer = structure_.layer[row];
      const bool is_own = layer.valid() && structure_.pass[row].valid() && selected[row] != 0;
      if (is_own && !sums_.layers[layer.index()].first_kernel) {
        sums_.layers[layer.index()].first_kernel = ordinal;
      }
      ++ordinal;
    }
  }

  void Check() const {
    int64_t total_ns = sums_.outside.gpu_ns;
    for (size_t i = 0; i < structure_.passes.size(); ++i) {
      const PassSums& pass = sums_.passes[i];
      int64_t parts_ns = pass.head.total_ns() + pass.tail.total_ns();
      int64_t n_parts = pass.head.n() + pass.tail.n();
      const layers::Pass& source = structure_.passes[i];
      for (uint32_t k = 0; k < source.n_layers; ++k) {
        parts_ns += sums_.layers[source.first_layer + k].total_ns();
        n_parts += sums_.layers[source.first_layer + k].n();
      }
      LS_CHECK(parts_ns == pass.total_ns() && n_parts == pass.n(),
               "layers, head and tail do not add up to the pass");
      total_ns += pass.total_ns();
    }
    LS_CHECK(total_ns == view_.total_ns(), "passes and outside do not add up to the total");
  }

  const RankView& view_;
  const LayerStructure& structure_;
  AllReduceNames all_reduce_;
  StructureSums sums_;
};

}  // namespace

void CategorySums::Add(kernel_names::CategoryId category, int64_t ns) {
  const auto found = std::find_if(sums_.begin(), sums_.end(),
                                  [category](const auto& sum) { return sum.first == category; });
  if (found != sums_.end()) {
    found->second += ns;
  } else {
    sums_.emplace_back(category, ns);
  }
}

void CategorySums::Add(const CategorySums& other) {
  for (const auto& [category, ns] : other.sums_) Add(category, ns);
}

table::CellMap CategorySums::ByName(const kernel_names::RuleSet& rules) const {
  std::vector<std::pair<kernel_names::CategoryId, int64_t>> ordered = sums_;
  std::sort(ordered.begin(), ordered.end());
  table::CellMap map;
  for (const auto& [category, ns] : ordered) {
    if (ns != 0) map.emplace_back(rules.category(category).name, ns);
  }
  return map;
}

int64_t CategorySums::OfGroup(const kernel_names::RuleSet& rules, std::string_view group) const {
  int64_t sum_ns = 0;
  for (const auto& [category, ns] : sums_) {
    if (rules.category(category).group == group) sum_ns += ns;
  }
  return sum_ns;
}

StructureSums SumStructure(const RankView& view, const LayerStructure& structure) {
  return Summer(view, structure).Sum();
}

}  // namespace layerscope::analysis

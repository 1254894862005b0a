#include "src/document/map/found_layers.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/analysis/layer_choice.h"
#include "src/document/map/values.h"

namespace layerscope::document {
namespace {

using layers::LayerStructure;
using layers::PassPart;
using table::Array;
using table::Object;

/// A layer's sums over all passes.
struct LayerSum {
  uint32_t type = 0;
  RowSums rows;
};

class FoundLayers {
 public:
  FoundLayers(const Execution& execution, const LayerStructure& structure, size_t pass)
      : rank_(execution.rank), structure_(structure), pass_(pass) {}

  LayerParts Write() {
    SumLayers();
    LayerParts parts;
    parts.source = attribution::ToString(structure_.anchor.evidence);
    parts.layers = structure_.layers_per_pass.value_or(static_cast<int64_t>(sums_.size()));
    WritePerLayer(parts);
    WriteKernels(parts);
    return parts;
  }

 private:
  bool IsDraft(layers::PassId pass) const {
    return structure_.passes[pass.index()].kind == layers::PassKind::kDraft;
  }

  void SumLayers() {
    for (const uint32_t row : rank_.rows) {
      const layers::LayerId id = structure_.layer[row];
      if (!id.valid() || !structure_.pass[row].valid() || IsDraft(structure_.pass[row])) continue;
      const layers::Layer& layer = structure_.layers[id.index()];
      LayerSum& sum = sums_[layer.index];
      sum.type = layer.type;
      sum.rows.AddRow(*rank_.view, row);
    }
  }

  void WritePerLayer(LayerParts& parts) const {
    for (const auto& [index, sum] : sums_) {
      Object layer{{"index", int64_t{index}}, {"path", table::Null()},
                   {"class", table::Null()},  {"type", structure_.types[sum.type]},
                   {"dur_us", table::Null()}, {"cpu_ns", table::Null()}};
      sum.rows.WriteTo(layer);
      parts.per_layer.emplace_back(std::move(layer));
    }
  }

  /// The layer of the pass that stands for the others: the middle one of the commonest type.
  int32_t TemplateLayer() const {
    std::map<uint32_t, std::vector<int32_t>> by_type;
    const layers::Pass& pass = structure_.passes[pass_];
    for (uint32_t i = pass.first_layer; i < pass.first_layer + pass.n_layers; ++i) {
      by_type[structure_.layers[i].type].push_back(structure_.layers[i].index);
    }
    const std::vector<int32_t>* most = nullptr;
    for (const auto& [type, layers] : by_type) {
      if (most == nullptr || layers.size() > most->size()) most = &layers;
    }
    return most == nullptr ? -1 : (*most)[most->size() / 2];
  }

  void WriteKernels(LayerParts& parts) const {
    const int32_t wanted = TemplateLayer();
    std::vector<uint32_t> rows = rank_.rows;
    const std::vector<int64_t>& starts = rank_.view->activities().start_ns;
    std::stable_sort(rows.begin(), rows.end(),
                     [&](uint32_t a, uint32_t b) { return starts[a] < starts[b]; });
    for (const uint32_t row : rows) {
      if (!structure_.pass[row].valid() || structure_.pass[row].index() != pass_) continue;
      const PassPart part = structure_.part[row];
      if (part == PassPart::kHead) Append(row, parts.pre_layers);
      if (part == PassPart::kTail) Append(row, parts.post_layers);
      const layers::LayerId layer = structure_.layer[row];
      if (!layer.valid() || structure_.layers[layer.index()].index != wanted) continue;
      Append(row, parts.layer_template);
    }
    parts.ops_per_layer = static_cast<int64_t>(parts.layer_template.size());
  }

  void Append(uint32_t row, Array& list) const {
    Object kernel = Kernel(row);
    kernel.emplace_back("seq", list.size());
    list.emplace_back(std::move(kernel));
  }

  Object Kernel(uint32_t row) const {
    const attribution::Attribution& attr = rank_.attribution();
    const trace::StringPool& strings = rank_.trace().strings;
    const trace::StringId name = rank_.view->activities().name[row];
    const trace::OpId op = attr.op[row];
    const int64_t dur_ns = rank_.view->activities().dur_ns[row];
    const kernel_names::CategoryId category = attr.category_of_name[name.index()];
    return {{"op", op.valid() && attr.under_graph[row] == 0
                       ? CutName(strings[attr.OpName(rank_.trace(), op)])
                       : "[no op]"},
            {"module", ""},
            {"dur_us", 0.0},
            {"gpu", CutName(strings[name])},
            {"gpu_dur_us", Microseconds(dur_ns)},
            {"gpu_role", rank_.view->rules().category(category).name},
            {"gpu_ns", dur_ns},
            {"kernels", rank_.view->IsKernel(row) ? 1 : 0}};
  }

  const ExecutionRank& rank_;
  const LayerStructure& structure_;
  size_t pass_;
  std::map<int32_t, LayerSum> sums_;
};

}  // namespace

LayerParts WriteFoundLayers(const Execution& execution) {
  const analysis::RankInput& input = execution.rank.view->input();
  if (input.layers == nullptr || input.layers->abstained || input.layers->layers.empty()) return {};
  base::Result<analysis::ChosenPass> pass = analysis::ChoosePass(input, {}, {});
  if (!pass.ok()) return {};
  return FoundLayers(execution, *input.layers, pass->index).Write();
}

}  // namespace layerscope::document

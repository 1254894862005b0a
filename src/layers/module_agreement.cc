#include "src/layers/module_agreement.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace layerscope::layers {
namespace {

using trace::ScopeId;

constexpr size_t kNoLayer = std::numeric_limits<size_t>::max();

class ModuleComparison {
 public:
  ModuleComparison(const trace::Trace& trace, const attribution::Attribution& attribution,
                   const std::vector<uint8_t>& is_helper, const LayerStructure& structure)
      : trace_(trace), attribution_(attribution), is_helper_(is_helper), structure_(structure) {}

  std::optional<ModuleAgreement> Compare() {
    if (trace_.scopes.size() == 0 || structure_.layers.empty()) return std::nullopt;
    SortRows();
    for (size_t pass = 0; pass < structure_.passes.size() && layer_class_.empty(); ++pass) {
      if (TakesPart(pass)) ChooseClass(pass);
    }
    if (layer_class_.empty()) return std::nullopt;
    FindLayerScopes();
    ModuleAgreement agreement;
    agreement.module_class = layer_class_;
    for (size_t pass = 0; pass < structure_.passes.size(); ++pass) {
      if (TakesPart(pass)) ComparePass(pass, agreement);
    }
    return agreement;
  }

 private:
  /// The kernels of each pass, by (start, file order).
  void SortRows() {
    const trace::Activities& rows = trace_.activities;
    rows_.resize(structure_.passes.size());
    eager_.assign(structure_.passes.size(), 1);
    for (uint32_t row = 0; row < structure_.pass.size(); ++row) {
      const PassId pass = structure_.pass[row];
      if (!pass.valid() || rows.kind[row] != trace::ActivityKind::kKernel) continue;
      const bool in_layer = structure_.part[row] == PassPart::kLayer;
      if (in_layer && attribution_.under_graph[row] != 0) eager_[pass.index()] = 0;
      if (attribution_.launch[row].valid()) rows_[pass.index()].push_back(row);
    }
    for (std::vector<uint32_t>& of_pass : rows_) {
      std::sort(of_pass.begin(), of_pass.end(), [&](uint32_t a, uint32_t b) {
        return std::pair(rows.start_ns[a], a) < std::pair(rows.start_ns[b], b);
      });
    }
  }

  bool TakesPart(size_t pass) const {
    const Pass& entry = structure_.passes[pass];
    return entry.complete && entry.kind != PassKind::kCapture && entry.kind != PassKind::kDraft &&
           eager_[pass] != 0;
  }

  std::string_view ClassOf(ScopeId scope) const {
    const attribution::ModuleTree& tree = attribution_.modules;
    return tree.ClassOf(tree.module_of_scope[scope.index()], trace_);
  }

  void ChooseClass(size_t pass) {
    struct Calls {
      int depth = 0;
      int64_t n = 0;
    };
    std::map<std::string_view, Calls> calls;
    std::vector<uint8_t> seen(attribution_.modules.module_of_scope.size(), 0);
    for (const uint32_t row : rows_[pass]) {
      ScopeId scope = attribution_.scope[row];
      while (scope.valid() && std::exchange(seen[scope.index()], uint8_t{1}) == 0) {
        Calls& of_class = calls[ClassOf(scope)];
        of_class.depth = attribution_.modules.depth_of_scope[scope.index()];
        ++of_class.n;
        scope = attribution_.modules.parent_of_scope[scope.index()];
      }
    }
    int best_depth = 0;
    for (const auto& [name, of_class] : calls) {
      if (of_class.n != structure_.passes[pass].n_layers) continue;
      if (!layer_class_.empty() && of_class.depth >= best_depth) continue;
      layer_class_ = name;
      best_depth = of_class.depth;
    }
  }

  /// By scope: the outermost call of the layers' class around it, itself included.
  void FindLayerScopes() {
    const std::vector<ScopeId>& parents = attribution_.modules.parent_of_scope;
    layer_scope_.resize(parents.size());
    std::vector<uint8_t> known(parents.size(), 0);
    std::vector<ScopeId> chain;
    for (size_t i = 0; i < parents.size(); ++i) {
      ScopeId at(i);
      while (at.valid() && known[at.index()] == 0) {
        chain.push_back(at);
        at = parents[at.index()];
      }
      ScopeId found = at.valid() ? layer_scope_[at.index()] : ScopeId();
      for (; !chain.empty(); chain.pop_back()) {
        const ScopeId scope = chain.back();
        if (!found.valid() && ClassOf(scope) == layer_class_) found = scope;
        layer_scope_[scope.index()] = found;
        known[scope.index()] = 1;
      }
    }
  }

  ScopeId LayerScopeOf(uint32_t row) const {
    const ScopeId scope = attribution_.scope[row];
    return scope.valid() ? layer_scope_[scope.index()] : ScopeId();
  }

  /// Which layer of the pass each kernel belongs to by its scope: the layer most of whose kernels
  /// that scope launched. kNoLayer: none.
  std::vector<size_t> LayersByScope(size_t pass) const {
    std::map<std::pair<ScopeId, size_t>, int64_t> n_shared;
    for (const uint32_t row : rows_[pass]) {
      const ScopeId scope = LayerScopeOf(row);
      const size_t layer = LayerOf(pass, row);
      if (scope.valid() && layer != kNoLayer) ++n_shared[{scope, layer}];
    }
    std::vector<std::pair<int64_t, std::pair<ScopeId, size_t>>> by_size;
    for (const auto& [pair, n] : n_shared) by_size.emplace_back(-n, pair);
    std::sort(by_size.begin(), by_size.end());
    std::map<ScopeId, size_t> layer_of;
    std::vector<uint8_t> taken(structure_.passes[pass].n_layers, 0);
    for (const auto& [n, pair] : by_size) {
      const auto& [scope, layer] = pair;
      if (taken[layer] != 0 || !layer_of.try_emplace(scope, layer).second) continue;
      taken[layer] = 1;
    }
    std::vector<size_t> layers;
    for (const uint32_t row : rows_[pass]) {
      const auto at = layer_of.find(LayerScopeOf(row));
      layers.push_back(at == layer_of.end() ? kNoLayer : at->second);
    }
    return layers;
  }

  size_t LayerOf(size_t pass, uint32_t row) const {
    const LayerId layer = structure_.layer[row];
    return layer.valid() ? layer.index() - structure_.passes[pass].first_layer : kNoLayer;
  }

  /// By position in rows_[pass]: a helper that stands right before the kernel that opens the layer
  /// in whose scope it is launched.
  std::vector<uint8_t> FindHelpers(size_t pass, const std::vector<size_t>& by_scope) const {
    const std::vector<uint32_t>& rows = rows_[pass];
    std::vector<uint8_t> helps(rows.size(), 0);
    std::map<trace::StreamId, size_t> next_layer;  // of the kernel behind, helpers passed over
    for (size_t i = rows.size(); i-- > 0;) {
      const auto [next, is_last] =
          next_layer.try_emplace(trace_.activities.stream[rows[i]], kNoLayer);
      const size_t layer = LayerOf(pass, rows[i]);
      const bool before = by_scope[i] == 0 ? layer == kNoLayer : layer + 1 == by_scope[i];
      const bool named = is_helper_[trace_.activities.name[rows[i]].index()] != 0;
      helps[i] = named && before && by_scope[i] != kNoLayer && next->second == by_scope[i] ? 1 : 0;
      if (helps[i] == 0) next->second = layer;
    }
    return helps;
  }

  void ComparePass(size_t pass, ModuleAgreement& agreement) const {
    const std::vector<size_t> by_scope = LayersByScope(pass);
    const std::vector<uint8_t> helps = FindHelpers(pass, by_scope);
    std::vector<uint8_t> agrees(structure_.passes[pass].n_layers, 0);
    for (const size_t layer : by_scope) {
      if (layer != kNoLayer) agrees[layer] = 1;
    }
    for (size_t i = 0; i < by_scope.size(); ++i) {
      const size_t layer = LayerOf(pass, rows_[pass][i]);
      if (layer == by_scope[i]) continue;
      if (helps[i] != 0) {
        ++agreement.n_helpers;
        continue;
      }
      ++agreement.n_displaced;
      if (layer != kNoLayer) agrees[layer] = 0;
      if (by_scope[i] != kNoLayer) agrees[by_scope[i]] = 0;
    }
    agreement.n_layers += static_cast<int64_t>(agrees.size());
    agreement.n_agreeing += std::count(agrees.begin(), agrees.end(), uint8_t{1});
  }

  const trace::Trace& trace_;
  const attribution::Attribution& attribution_;
  const std::vector<uint8_t>& is_helper_;  // by StringId index
  const LayerStructure& structure_;
  std::vector<std::vector<uint32_t>> rows_;  // by pass: kernels with a launch, by start
  std::vector<uint8_t> eager_;               // by pass
  std::string_view layer_class_;
  std::vector<ScopeId> layer_scope_;  // by scope
};

}  // namespace

std::optional<ModuleAgreement> CompareWithModules(const trace::Trace& trace,
                                                  const attribution::Attribution& attribution,
                                                  const std::vector<uint8_t>& is_helper,
                                                  const LayerStructure& structure) {
  return ModuleComparison(trace, attribution, is_helper, structure).Compare();
}

}  // namespace layerscope::layers

#include "src/layers/module_agreement.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace layerscope::layers {
namespace {

using trace::ScopeId;

class ModuleComparison {
 public:
  ModuleComparison(const trace::Trace& trace, const attribution::Attribution& attribution,
                   const LayerStructure& structure)
      : trace_(trace), attribution_(attribution), structure_(structure) {}

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
  /// The kernels of each pass, in file order.
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
  }

  bool TakesPart(size_t pass) const {
    const Pass& entry = structure_.passes[pass];
    return entry.complete && entry.kind != PassKind::kCapture && entry.kind != PassKind::kDraft &&
           eager_[pass] != 0;
  }

  std::string_view ClassOf(ScopeId scope) const {
    return attribution::SplitInstance(trace_.strings[trace_.scopes.name[scope.index()]]).class_name;
  }

  void ChooseClass(size_t pass) {
    struct Calls {
      int depth = 0;
      int64_t n = 0;
    };
    std::map<std::string_view, Calls> calls;
    std::vector<uint8_t> seen(trace_.scopes.size(), 0);
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
    layer_scope_.resize(trace_.scopes.size());
    std::vector<uint8_t> known(trace_.scopes.size(), 0);
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

  void ComparePass(size_t pass, ModuleAgreement& agreement) const {
    struct Found {
      ScopeId scope;
      int64_t n = 0;
      bool mixed = false;
    };
    std::map<ScopeId, int64_t> n_of_scope;
    std::vector<Found> found(structure_.passes[pass].n_layers);
    for (const uint32_t row : rows_[pass]) {
      const ScopeId scope = LayerScopeOf(row);
      if (scope.valid()) ++n_of_scope[scope];
      const LayerId layer = structure_.layer[row];
      if (!layer.valid()) continue;
      Found& here = found[layer.index() - structure_.passes[pass].first_layer];
      if (here.n++ == 0) here.scope = scope;
      here.mixed |= here.scope != scope;
    }
    for (const Found& here : found) {
      ++agreement.n_layers;
      if (!here.scope.valid() || here.mixed) continue;
      agreement.n_agreeing += n_of_scope[here.scope] == here.n ? 1 : 0;
    }
  }

  const trace::Trace& trace_;
  const attribution::Attribution& attribution_;
  const LayerStructure& structure_;
  std::vector<std::vector<uint32_t>> rows_;  // by pass: kernels with a launch
  std::vector<uint8_t> eager_;               // by pass
  std::string_view layer_class_;
  std::vector<ScopeId> layer_scope_;  // by scope
};

}  // namespace

std::optional<ModuleAgreement> CompareWithModules(const trace::Trace& trace,
                                                  const attribution::Attribution& attribution,
                                                  const LayerStructure& structure) {
  return ModuleComparison(trace, attribution, structure).Compare();
}

}  // namespace layerscope::layers

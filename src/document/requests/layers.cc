#include "src/document/requests/layers.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "src/attribution/module_tree.h"
#include "src/attribution/path_parts.h"
#include "src/base/checked_sum.h"
#include "src/layers/layer_structure.h"

namespace layerscope::document {
namespace {

using analysis::RankView;

constexpr uint32_t kNone = AlignedModule::kNone;
/// A layer stack holds the better part of a forward; experts, which are numbered too, lie below it.
constexpr int64_t kStackShare = 2;
constexpr size_t kFewestLayers = 2;

/// "layers" and 7 of "layers.7"; "Qwen3DecoderLayer" and 7 of "Qwen3DecoderLayer_7".
struct NumberedName {
  std::string_view stem;
  int64_t number = -1;  ///< -1: no number
};

NumberedName SplitName(const AlignedModule& module) {
  if (!module.has_path) {
    const attribution::InstanceName name = attribution::SplitInstance(module.instance);
    return {name.class_name, name.number};
  }
  const attribution::NumberedPath path = attribution::SplitNumber(module.path);
  if (path.list.empty()) return {module.path, -1};
  return {path.list, path.number};
}

/// Time of modules: of the GPU, and of the CPU where nothing ran on a GPU.
struct Weight {
  int64_t gpu_ns = 0;
  int64_t cpu_ns = 0;
  void Add(const ModuleFigures& figures) {
    gpu_ns = base::AddClamped(gpu_ns, figures.gpu_ns);
    cpu_ns = base::AddClamped(cpu_ns, figures.cpu_ns);
  }
  bool IsMostOf(const Weight& whole) const {
    return whole.gpu_ns > 0 ? gpu_ns >= whole.gpu_ns / kStackShare
                            : cpu_ns >= whole.cpu_ns / kStackShare;
  }
};

/// Numbered siblings with children: of one path (`layers.0`, `layers.1`), or, named by class, of
/// all classes with several members, for hybrid models have a class for each type of layer.
struct Stack {
  std::vector<uint32_t> modules;
  bool one_class = true;
};

class Stacks {
 public:
  explicit Stacks(const AlignedTree& tree) : tree_(tree), has_children_(tree.modules.size(), 0) {
    for (const AlignedModule& module : tree_.modules) {
      if (module.parent != kNone) has_children_[module.parent] = 1;
    }
    std::map<Key, size_t> members;
    for (uint32_t i = 0; i < tree_.modules.size(); ++i) {
      if (IsNumbered(i)) ++members[KeyOf(i)];
    }
    for (uint32_t i = 0; i < tree_.modules.size(); ++i) {
      if (!IsNumbered(i) || members[KeyOf(i)] < kFewestLayers) continue;
      const AlignedModule& module = tree_.modules[i];
      Stack& stack = stacks_[module.has_path ? KeyOf(i) : Key{module.parent, {}}];
      if (!stack.modules.empty() && !module.has_path) {
        stack.one_class &= KeyOf(stack.modules.front()) == KeyOf(i);
      }
      stack.modules.push_back(i);
    }
  }

  /// The layers of a request's model: of the stacks that hold half of its time the longest. Null:
  /// none. Stacks live as long as this.
  const Stack* OfRequest(uint32_t request) const {
    Weight whole;
    for (const AlignedModule& module : tree_.modules) {
      if (module.parent != kNone) continue;
      if (const ModuleFigures* const figures = module.Of(request)) whole.Add(*figures);
    }
    const Stack* best = nullptr;
    size_t most = kFewestLayers - 1;
    for (const auto& [key, stack] : stacks_) {
      Weight weight;
      size_t n = 0;
      for (const uint32_t module : stack.modules) {
        const ModuleFigures* const figures = tree_.modules[module].Of(request);
        if (figures == nullptr) continue;
        weight.Add(*figures);
        ++n;
      }
      if (n <= most || !weight.IsMostOf(whole)) continue;
      most = n;
      best = &stack;
    }
    return best;
  }

 private:
  using Key = std::pair<uint32_t, std::string_view>;

  bool IsNumbered(uint32_t module) const {
    return has_children_[module] != 0 && SplitName(tree_.modules[module]).number >= 0;
  }
  Key KeyOf(uint32_t module) const {
    return {tree_.modules[module].parent, SplitName(tree_.modules[module]).stem};
  }

  const AlignedTree& tree_;
  std::vector<uint8_t> has_children_;
  std::map<Key, Stack> stacks_;
};

/// The modules of the stack by the index of their layer: the number in the path; `Class_k` counts
/// from the first one that the process made; of several classes the order.
std::map<int64_t, uint32_t> ModulesByIndex(const AlignedTree& tree, const Stack& stack) {
  const auto number_of = [&](uint32_t module) { return SplitName(tree.modules[module]).number; };
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const uint32_t module : stack.modules) {
    least = std::min(least, tree.modules[module].has_path ? 0 : number_of(module));
  }
  std::map<int64_t, uint32_t> by_index;
  for (size_t i = 0; i < stack.modules.size(); ++i) {
    const uint32_t module = stack.modules[i];
    by_index.emplace(stack.one_class ? number_of(module) - least : static_cast<int64_t>(i), module);
  }
  return by_index;
}

/// Time and type by index of the layers that were found in a request's kernels.
struct FoundLayer {
  int64_t gpu_ns = 0;
  std::string type;
};

std::map<int64_t, FoundLayer> FoundLayers(const RankView& view) {
  std::map<int64_t, FoundLayer> found;
  const layers::LayerStructure* const structure = view.input().layers;
  if (structure == nullptr || structure->abstained || view.cpu_only()) return found;
  std::vector<int64_t> ns_of_layer(structure->layers.size(), 0);
  for (const uint32_t row : view.rows()) {
    if (structure->part[row] != layers::PassPart::kLayer || !structure->layer[row].valid())
      continue;
    ns_of_layer[structure->layer[row].index()] += view.activities().dur_ns[row];
  }
  for (size_t i = 0; i < ns_of_layer.size(); ++i) {
    const layers::Layer& layer = structure->layers[i];
    const layers::PassKind kind = structure->passes[layer.pass.index()].kind;
    if (kind == layers::PassKind::kDraft || kind == layers::PassKind::kCapture) continue;
    FoundLayer& sums = found[layer.index];
    sums.gpu_ns += ns_of_layer[i];
    if (sums.type.empty()) sums.type = structure->types[layer.type];
  }
  return found;
}

class LayerAligner {
 public:
  LayerAligner(const std::vector<RankView>& views, const AlignedTree& tree)
      : views_(views), tree_(tree), stacks_(tree) {
    for (uint32_t i = 0; i < views.size(); ++i) {
      found_.push_back(FoundLayers(views[i]));
      const Stack* const stack = stacks_.OfRequest(i);
      stack_of_.push_back(stack);
      if (stack == nullptr || found_[i].empty()) continue;
      int64_t& n_layers = n_layers_[stack];
      n_layers = std::max(n_layers, found_[i].rbegin()->first + 1);
    }
  }

  AlignedLayers Align() {
    for (uint32_t i = 0; i < views_.size(); ++i) AddRequest(i);
    AlignedLayers aligned;
    aligned.sources = std::move(sources_);
    for (auto& [index, layer] : layers_) aligned.layers.push_back(std::move(layer));
    return aligned;
  }

 private:
  AlignedLayer& At(int64_t index) {
    AlignedLayer& layer = layers_[index];
    layer.index = index;
    layer.gpu_ns.resize(views_.size());
    layer.cpu_ns.resize(views_.size());
    return layer;
  }

  /// By index of the layer. Modules named by class have the layers' order, and their indices only
  /// if none is missing.
  std::map<int64_t, uint32_t> ModulesOf(uint32_t request) const {
    const Stack* const stack = stack_of_[request];
    if (stack == nullptr) return {};
    const auto found = n_layers_.find(stack);
    const bool fits = found == n_layers_.end() || tree_.modules[stack->modules.front()].has_path ||
                      found->second == static_cast<int64_t>(stack->modules.size());
    return fits ? ModulesByIndex(tree_, *stack) : std::map<int64_t, uint32_t>();
  }

  void AddRequest(uint32_t request) {
    const std::map<int64_t, FoundLayer>& found = found_[request];
    for (const auto& [index, sums] : found) {
      AlignedLayer& layer = At(index);
      layer.gpu_ns[request] = sums.gpu_ns;
      // What the kernels tell goes before the module's class.
      if (!typed_[index]) layer.type = sums.type;
      typed_[index] = true;
    }
    bool has_modules = false;
    for (const auto& [index, module] : ModulesOf(request)) {
      const AlignedModule& aligned = tree_.modules[module];
      const ModuleFigures* const figures = aligned.Of(request);
      if (figures == nullptr || (!found.empty() && found.count(index) == 0)) continue;
      has_modules = true;
      AlignedLayer& layer = At(index);
      layer.path = aligned.path;
      if (layer.type.empty()) layer.type = aligned.class_name;
      layer.cpu_ns[request] = figures->cpu_ns;
      if (found.empty()) layer.gpu_ns[request] = figures->gpu_ns;
    }
    sources_.emplace_back(!found.empty() ? "kernels" : has_modules ? "modules" : "");
  }

  const std::vector<RankView>& views_;
  const AlignedTree& tree_;
  std::vector<std::map<int64_t, FoundLayer>> found_;  ///< by request
  Stacks stacks_;
  std::vector<const Stack*> stack_of_;        ///< by request
  std::map<const Stack*, int64_t> n_layers_;  ///< found in the kernels
  std::map<int64_t, AlignedLayer> layers_;
  std::map<int64_t, bool> typed_;
  std::vector<std::string> sources_;
};

}  // namespace

AlignedLayers AlignLayers(const std::vector<RankView>& views, const AlignedTree& tree) {
  return LayerAligner(views, tree).Align();
}

}  // namespace layerscope::document

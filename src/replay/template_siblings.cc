#include "src/replay/template_siblings.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "src/base/hash.h"
#include "src/layers/segmentation.h"
#include "src/replay/chain_placer.h"
#include "src/replay/sequence_alignment.h"

namespace layerscope::replay {
namespace {

using attribution::Evidence;
using attribution::Module;
using attribution::ModuleId;

using attribution::kMaxModuleLevels;
/// Most of a layer's kernels lie in its own module; a fused communication may lie outside.
constexpr double kMostKernels = 0.9;

/// The kernels of one found layer, in order.
struct FoundLayer {
  std::vector<uint32_t> rows;
  uint64_t key = 0;         ///< of its kernels' names and its type
  ModuleId module;          ///< its own module; invalid: it is not resolved
  bool has_target = false;  ///< a kernel under a graph launch that nothing has refined
};

class SiblingResolver {
 public:
  SiblingResolver(Resolution& resolution, const layers::LayerStructure& structure)
      : resolution_(resolution),
        structure_(structure),
        trace_(resolution.trace),
        attribution_(resolution.attribution),
        placer_(resolution.graft) {}

  void Run() {
    SortRows();
    for (size_t i = 0; i < layers_.size(); ++i) Judge(i);
    if (resolved_.empty()) return;
    KeepDistinctModules();
    template_row_.assign(trace_.activities.size(), kUnmatched);
    for (size_t i = 0; i < layers_.size(); ++i) Match(i);
    for (uint32_t i = 0; i < resolution_.graphs.launches.size(); ++i) {
      if (!resolution_.outcomes[i].placed()) Place(i);
    }
  }

 private:
  bool IsTarget(uint32_t row) const {
    const Evidence evidence = attribution_.module_evidence[row];
    return attribution_.under_graph[row] != 0 &&
           (evidence == Evidence::kLaunchCorrelation || evidence == Evidence::kUnresolved);
  }

  void SortRows() {
    layers_.resize(structure_.layers.size());
    for (uint32_t row = 0; row < structure_.layer.size(); ++row) {
      const bool own = structure_.layer[row].valid() && structure_.foreign[row] == 0 &&
                       structure_.part[row] == layers::PassPart::kLayer;
      if (!own || trace_.activities.kind[row] != trace::ActivityKind::kKernel) continue;
      layers_[structure_.layer[row].index()].rows.push_back(row);
    }
    const std::vector<int64_t>& start_ns = trace_.activities.start_ns;
    for (FoundLayer& layer : layers_) {
      std::sort(layer.rows.begin(), layer.rows.end(), [&](uint32_t a, uint32_t b) {
        return std::pair(start_ns[a], a) < std::pair(start_ns[b], b);
      });
    }
  }

  void Judge(size_t index) {
    FoundLayer& layer = layers_[index];
    const layers::Layer& found = structure_.layers[index];
    const layers::Pass& pass = structure_.passes[found.pass.index()];
    const bool certain =
        pass.confidence >= layers::kConfident && (found.flags & layers::kLayerCut) == 0;
    if (!certain || layer.rows.empty()) return;
    layer.key = base::Mix(found.type + 1);
    int64_t n_resolved = 0;
    for (const uint32_t row : layer.rows) {
      layer.key = base::Mix(layer.key * 31 + trace_.activities.name[row].index() + 1);
      if (IsTarget(row)) {
        layer.has_target = true;
      } else if (attribution_.module[row].valid()) {
        ++n_resolved;
      }
    }
    const auto n_rows = static_cast<double>(layer.rows.size());
    if (static_cast<double>(n_resolved) < kEnoughAligned * n_rows) return;
    layer.module = OwnModule(layer);
    if (layer.module.valid()) resolved_.push_back(static_cast<uint32_t>(index));
  }

  /// The deepest module that holds most kernels of a layer.
  ModuleId OwnModule(const FoundLayer& layer) const {
    const std::vector<Module>& modules = attribution_.modules.modules;
    std::map<ModuleId, size_t> n_kernels;
    for (const uint32_t row : layer.rows) {
      size_t level = 0;
      for (ModuleId at = attribution_.module[row]; at.valid() && level < kMaxModuleLevels;
           ++level) {
        ++n_kernels[at];
        at = modules[at.index()].parent;
      }
    }
    ModuleId best;
    for (const auto& [module, n] : n_kernels) {
      if (static_cast<double>(n) < kMostKernels * static_cast<double>(layer.rows.size())) continue;
      if (!best.valid() || modules[module.index()].depth > modules[best.index()].depth) {
        best = module;
      }
    }
    return best;
  }

  /// A module that is that of two indices, or lies around another layer's, is no layer's own.
  void KeepDistinctModules() {
    std::map<ModuleId, int32_t> index_of;
    std::set<ModuleId> shared;
    for (const uint32_t i : resolved_) {
      const int32_t index = structure_.layers[i].index;
      const auto [known, is_new] = index_of.try_emplace(layers_[i].module, index);
      if (!is_new && known->second != index) shared.insert(layers_[i].module);
    }
    const std::vector<Module>& modules = attribution_.modules.modules;
    for (const auto& own : index_of) {
      ModuleId above = modules[own.first.index()].parent;
      for (size_t level = 0; above.valid() && level < kMaxModuleLevels; ++level) {
        shared.insert(above);
        above = modules[above.index()].parent;
      }
    }
    std::erase_if(resolved_, [&](uint32_t i) { return shared.count(layers_[i].module) > 0; });
    for (const uint32_t i : resolved_) {
      const int32_t index = structure_.layers[i].index;
      module_of_index_.try_emplace(index, layers_[i].module);
      by_key_.try_emplace(layers_[i].key, i);
      by_key_and_index_.try_emplace({layers_[i].key, index}, i);
    }
  }

  void Match(size_t index) {
    const FoundLayer& layer = layers_[index];
    if (!layer.has_target) return;
    const auto same = by_key_and_index_.find({layer.key, structure_.layers[index].index});
    const auto other = by_key_.find(layer.key);
    if (same == by_key_and_index_.end() && other == by_key_.end()) return;
    const FoundLayer& sibling =
        layers_[same != by_key_and_index_.end() ? same->second : other->second];
    if (sibling.rows.size() != layer.rows.size()) return;
    for (size_t i = 0; i < layer.rows.size(); ++i) {
      if (IsTarget(layer.rows[i])) template_row_[layer.rows[i]] = sibling.rows[i];
    }
  }

  void Place(uint32_t index) {
    const GraphLaunch& launch = resolution_.graphs.launches[index];
    if (launch.burst || launch.rows.empty()) return;
    LaunchOutcome outcome;
    placer_.BeginLaunch(launch.call, attribution_.scope[launch.rows.front()]);
    for (const uint32_t row : launch.rows) {
      const bool kernel = trace_.activities.kind[row] == trace::ActivityKind::kKernel;
      const uint32_t like = template_row_[row];
      if (like == kUnmatched || !PlaceLike(row, like)) {
        outcome.mismatched += kernel ? 1 : 0;
        continue;
      }
      ++outcome.matched;
      const layers::PassId pass = structure_.pass[row];
      outcome.confidence = std::max(outcome.confidence, structure_.passes[pass.index()].confidence);
    }
    if (outcome.matched == 0) return;
    outcome.evidence = Evidence::kTemplate;
    PutInPlace(resolution_.outcomes[index], std::move(outcome));
  }

  bool PlaceLike(uint32_t row, uint32_t like) {
    const layers::Layer& from = structure_.layers[structure_.layer[like].index()];
    const layers::Layer& to = structure_.layers[structure_.layer[row].index()];
    const ModuleId own = layers_[structure_.layer[like].index()].module;
    const auto [chain, is_new] = chains_.try_emplace(
        {attribution_.module[like], own, from.index == to.index ? -1 : to.index});
    if (is_new) chain->second = ChainOf(attribution_.module[like], own, from.index, to.index);
    if (chain->second.empty()) return false;
    const trace::ScopeId call = placer_.CallFor(chain->second);
    resolution_.graft.Place(row, call, attribution_.op[like], Evidence::kTemplate);
    return true;
  }

  using Chain = std::vector<attribution::ModuleGraft::Name>;

  /// Names from the root to `module`, which lies in or below the layer's module `own`, as they are
  /// for the layer `to`. Empty: it lies elsewhere, or its path is another's.
  Chain ChainOf(ModuleId module, ModuleId own, int32_t from, int32_t to) {
    const std::vector<Module>& modules = attribution_.modules.modules;
    std::vector<ModuleId> up;  // innermost first
    std::optional<size_t> own_at;
    for (ModuleId at = module; at.valid() && up.size() < kMaxModuleLevels;
         at = modules[at.index()].parent) {
      if (at == own) own_at = up.size();
      up.push_back(at);
    }
    if (!own_at || (from != to && !HasNumber(own))) return {};
    const auto twin = module_of_index_.find(to);
    ModuleId at = twin == module_of_index_.end() ? ModuleId() : twin->second;
    Chain chain;
    for (size_t i = up.size(); i-- > 0;) {
      if (from == to || i > *own_at) {
        chain.push_back(NameOf(up[i]));
        continue;
      }
      if (i < *own_at && at.valid()) at = ChildLike(at, up[i]);
      chain.push_back(at.valid() ? NameOf(at) : WithoutNumber(up[i]));
    }
    return chain;
  }

  bool HasNumber(ModuleId id) const {
    const std::string_view name = trace_.strings[attribution_.modules.modules[id.index()].name];
    return !name.empty() && name.back() >= '0' && name.back() <= '9';
  }
  attribution::ModuleGraft::Name NameOf(ModuleId id) const {
    const Module& module = attribution_.modules.modules[id.index()];
    return {module.name, module.path, module.class_name};
  }
  attribution::ModuleGraft::Name WithoutNumber(ModuleId id) {
    const std::string name(attribution_.modules.ClassOf(id, trace_));
    return {resolution_.graft.Intern(name), {}, {}};
  }

  /// The child of `parent` that is to it what `like` is to its own parent: of the same class, and
  /// at the same place among the siblings of that class.
  ModuleId ChildLike(ModuleId parent, ModuleId like) {
    const ModuleId like_parent = attribution_.modules.modules[like.index()].parent;
    const std::vector<ModuleId>& siblings = ChildrenOf(like_parent);
    const std::string_view wanted = attribution_.modules.ClassOf(like, trace_);
    const auto of_class = [&](ModuleId id) {
      return attribution_.modules.ClassOf(id, trace_) == wanted;
    };
    const auto place = std::count_if(siblings.begin(),
                                     std::find(siblings.begin(), siblings.end(), like), of_class);
    std::ptrdiff_t at = 0;
    for (const ModuleId child : ChildrenOf(parent)) {
      if (of_class(child) && at++ == place) return child;
    }
    return {};
  }

  /// Children in the order of the tree, as it was before anything was placed by siblings.
  const std::vector<ModuleId>& ChildrenOf(ModuleId parent) {
    if (children_.empty()) {
      const std::vector<Module>& modules = attribution_.modules.modules;
      children_.resize(modules.size());
      for (size_t i = 0; i < modules.size(); ++i) {
        if (modules[i].parent.valid()) {
          children_[modules[i].parent.index()].push_back(ModuleId(i));
        }
      }
    }
    static const std::vector<ModuleId> kNone;
    return parent.index() < children_.size() ? children_[parent.index()] : kNone;
  }

  Resolution& resolution_;
  const layers::LayerStructure& structure_;
  const trace::Trace& trace_;
  const attribution::Attribution& attribution_;
  ChainPlacer placer_;
  std::vector<FoundLayer> layers_;
  std::vector<uint32_t> resolved_;  ///< layers that may serve
  std::map<int32_t, ModuleId> module_of_index_;
  std::map<uint64_t, uint32_t> by_key_;
  std::map<std::pair<uint64_t, int32_t>, uint32_t> by_key_and_index_;
  std::vector<uint32_t> template_row_;  ///< by row
  std::map<std::tuple<ModuleId, ModuleId, int32_t>, Chain> chains_;
  std::vector<std::vector<ModuleId>> children_;
};

}  // namespace

void ResolveBySiblings(Resolution& resolution, const layers::LayerStructure& structure) {
  if (structure.layer.size() != resolution.trace.activities.size()) return;
  SiblingResolver(resolution, structure).Run();
}

}  // namespace layerscope::replay

#include "src/replay/template_resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/base/format_number.h"
#include "src/replay/path_placer.h"
#include "src/replay/template_config.h"
#include "src/replay/template_siblings.h"

namespace layerscope::replay {
namespace {

bool IsRecorded(attribution::Evidence evidence) {
  return evidence == attribution::Evidence::kCaptureAlignment ||
         evidence == attribution::Evidence::kEagerAlignment;
}

/// Modules of recordings that hold several layers: what a compiler made of a model.
class CoarseModules {
 public:
  CoarseModules(const Resolution& resolution, const layers::LayerStructure& structure)
      : resolution_(resolution), structure_(structure) {
    FindLayersOfModules();
  }

  bool IsOwnLayers(uint32_t row) const {
    return structure_.layer[row].valid() && structure_.foreign[row] == 0 &&
           structure_.part[row] == layers::PassPart::kLayer;
  }
  /// Every kernel of the row's layer lies in such a module; of what stands before and after the
  /// layers, of every layer of the pass, and the row in the module that holds them.
  bool Holds(uint32_t row) const {
    if (!IsRecorded(resolution_.attribution.module_evidence[row])) return false;
    if (IsOwnLayers(row)) return coarse_layer_[structure_.layer[row].index()] != 0;
    const layers::PassId pass = structure_.pass[row];
    return pass.valid() && coarse_pass_[pass.index()] != 0 && several_.contains(PassModuleOf(row));
  }
  /// True of a launch that has layers in such modules.
  bool HoldsLayersOf(const GraphLaunch& launch) const {
    return std::any_of(launch.rows.begin(), launch.rows.end(),
                       [this](uint32_t row) { return IsOwnLayers(row) && Holds(row); });
  }

 private:
  using PassModule = std::pair<layers::PassId, attribution::ModuleId>;
  PassModule PassModuleOf(uint32_t row) const {
    return {structure_.pass[row], resolution_.attribution.module[row]};
  }

  /// Modules that hold kernels of several layers of a pass, and layers of which every kernel lies
  /// in such a module: a model's own module may hold a kernel of each layer beside their modules.
  void FindLayersOfModules() {
    const attribution::Attribution& attribution = resolution_.attribution;
    std::map<PassModule, layers::LayerId> first_layer;
    const auto n_rows = static_cast<uint32_t>(structure_.layer.size());
    for (uint32_t row = 0; row < n_rows; ++row) {
      if (!IsOwnLayers(row) || !attribution.module[row].valid()) continue;
      const auto [at, is_new] = first_layer.try_emplace(PassModuleOf(row), structure_.layer[row]);
      if (!is_new && at->second != structure_.layer[row]) several_.insert(PassModuleOf(row));
    }
    coarse_layer_.assign(structure_.layers.size(), 1);
    coarse_pass_.assign(structure_.passes.size(), 1);
    for (uint32_t row = 0; row < n_rows; ++row) {
      if (!IsOwnLayers(row) || !attribution.module[row].valid()) continue;
      if (several_.contains(PassModuleOf(row))) continue;
      coarse_layer_[structure_.layer[row].index()] = 0;
      coarse_pass_[structure_.pass[row].index()] = 0;
    }
  }

  const Resolution& resolution_;
  const layers::LayerStructure& structure_;
  std::set<PassModule> several_;       ///< modules with kernels of several layers
  std::vector<uint8_t> coarse_layer_;  ///< by layer: every kernel lies in one of these
  std::vector<uint8_t> coarse_pass_;   ///< by pass: of every layer
};

class ConfigResolver {
 public:
  ConfigResolver(Resolution& resolution, const layers::LayerStructure& structure,
                 const model::ModelConfig& config)
      : resolution_(resolution),
        structure_(structure),
        config_(config),
        laid_(LayConfig(resolution.trace, structure, config)),
        paths_(resolution.graft) {}

  void Run() {
    for (uint32_t i = 0; i < resolution_.graphs.launches.size(); ++i) {
      if (resolution_.outcomes[i].placed()) continue;
      if (laid_.reason.empty()) {
        Place(i);
      } else {
        Withhold(resolution_.outcomes[i], attribution::Evidence::kTemplate, config_.path,
                 laid_.reason);
      }
    }
  }

  /// Where a recording knows only modules around several layers (what a compiler made of a model),
  /// the template goes on below them.
  void Refine() {
    const CoarseModules coarse(resolution_, structure_);
    for (uint32_t i = 0; i < resolution_.graphs.launches.size(); ++i) {
      if (!IsRecorded(resolution_.outcomes[i].evidence)) continue;
      if (laid_.reason.empty()) {
        RefineLaunch(i, coarse);
      } else if (coarse.HoldsLayersOf(resolution_.graphs.launches[i])) {
        resolution_.outcomes[i].refusals.push_back(
            {attribution::Evidence::kTemplate, config_.path, laid_.reason});
      }
    }
  }

 private:
  void Place(uint32_t index) {
    const GraphLaunch& launch = resolution_.graphs.launches[index];
    LaunchOutcome outcome;
    if (launch.burst || launch.rows.empty()) return;
    paths_.BeginLaunch(launch.call, resolution_.attribution.scope[launch.rows.front()]);
    for (const uint32_t row : launch.rows) {
      const uint32_t path = laid_.path_of_row[row];
      const trace::ScopeId call =
          path == kNoTemplatePath ? trace::ScopeId() : paths_.CallFor(laid_.paths[path]);
      if (call.valid()) {
        resolution_.graft.Place(row, call, trace::OpId(), attribution::Evidence::kTemplate);
        const layers::PassId pass = structure_.pass[row];
        outcome.confidence = std::max(outcome.confidence, laid_.confidence[pass.index()]);
      }
      if (resolution_.trace.activities.kind[row] != trace::ActivityKind::kKernel) continue;
      (call.valid() ? outcome.matched : outcome.mismatched) += 1;
    }
    if (outcome.matched == 0) return;
    outcome.evidence = attribution::Evidence::kTemplate;
    outcome.source = config_.path;
    PutInPlace(resolution_.outcomes[index], std::move(outcome));
  }

  /// Compilers cut a model at its attention: the pieces are modules of one class, one in another
  /// (`GraphModule_0`). A layer has kernels in several of them and belongs to the outermost.
  trace::ScopeId OutermostOfClass(trace::ScopeId call) const {
    const attribution::ModuleTree& tree = resolution_.attribution.modules;
    const auto class_of = [&](trace::ScopeId of) {
      return tree.ClassOf(tree.module_of_scope[of.index()], resolution_.trace);
    };
    for (trace::ScopeId up = tree.parent_of_scope[call.index()];
         up.valid() && class_of(up) == class_of(call); up = tree.parent_of_scope[call.index()]) {
      call = up;
    }
    return call;
  }

  void RefineLaunch(uint32_t index, const CoarseModules& coarse) {
    const GraphLaunch& launch = resolution_.graphs.launches[index];
    const attribution::Attribution& attribution = resolution_.attribution;
    std::map<trace::ScopeId, std::vector<uint32_t>> rows_of_call;
    for (const uint32_t row : launch.rows) {
      if (laid_.path_of_row[row] == kNoTemplatePath || !coarse.Holds(row)) continue;
      rows_of_call[OutermostOfClass(attribution.scope[row])].push_back(row);
    }
    int64_t n_refined = 0;
    for (const auto& [around, rows] : rows_of_call) {
      paths_.BeginInside(launch.call, around);
      for (const uint32_t row : rows) {
        const trace::ScopeId call = paths_.CallFor(laid_.paths[laid_.path_of_row[row]]);
        if (!call.valid()) continue;
        resolution_.graft.Place(row, call, trace::OpId(), attribution::Evidence::kTemplate);
        ++n_refined;
      }
    }
    if (n_refined == 0) return;
    std::string& reason = resolution_.outcomes[index].reason;
    reason += fmt::format(
        "{}its modules hold several layers: {} of a launch lie below them by "
        "template of the config",
        reason.empty() ? "" : "; ", base::FormatCounted(n_refined, "kernel"));
  }

  Resolution& resolution_;
  const layers::LayerStructure& structure_;
  const model::ModelConfig& config_;
  ConfigTemplate laid_;
  PathPlacer paths_;
};

/// Where a recording knows only modules of several layers, a config is the way below them.
void NameTheConfig(Resolution& resolution, const layers::LayerStructure& structure) {
  const CoarseModules coarse(resolution, structure);
  for (size_t i = 0; i < resolution.outcomes.size(); ++i) {
    LaunchOutcome& outcome = resolution.outcomes[i];
    if (!IsRecorded(outcome.evidence)) continue;
    if (!coarse.HoldsLayersOf(resolution.graphs.launches[i])) continue;
    outcome.reason += outcome.reason.empty() ? "" : "; ";
    outcome.reason += "its modules hold several layers: --config names what lies below them";
  }
}

}  // namespace

void ResolveByTemplate(Resolution& resolution, const Sources& sources) {
  if (sources.layers == nullptr) return;
  if (!resolution.AllPlaced()) ResolveBySiblings(resolution, *sources.layers);
  if (sources.config == nullptr) return NameTheConfig(resolution, *sources.layers);
  ConfigResolver by_config(resolution, *sources.layers, *sources.config);
  by_config.Run();
  by_config.Refine();
}

}  // namespace layerscope::replay

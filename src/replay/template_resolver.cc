#include "src/replay/template_resolver.h"

#include <algorithm>
#include <utility>

#include "src/replay/path_placer.h"
#include "src/replay/template_config.h"
#include "src/replay/template_siblings.h"

namespace layerscope::replay {
namespace {

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
      laid_.reason.empty() ? Place(i) : Withhold(i);
    }
  }

 private:
  void Withhold(uint32_t index) {
    LaunchOutcome& outcome = resolution_.outcomes[index];
    if (outcome.withheld) return;
    outcome.source = config_.path;
    outcome.withheld = true;
    outcome.reason = laid_.reason;
  }

  void Place(uint32_t index) {
    const GraphLaunch& launch = resolution_.graphs.launches[index];
    LaunchOutcome outcome;
    if (launch.burst || launch.rows.empty()) return;
    paths_.BeginLaunch(launch.call, resolution_.attribution.scope[launch.rows.front()]);
    for (const uint32_t row : launch.rows) {
      const uint32_t path = laid_.path_of_row[row];
      const trace::ScopeId call =
          path == kNoPath ? trace::ScopeId() : paths_.CallFor(laid_.paths[path]);
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
    resolution_.outcomes[index] = std::move(outcome);
  }

  Resolution& resolution_;
  const layers::LayerStructure& structure_;
  const model::ModelConfig& config_;
  ConfigTemplate laid_;
  PathPlacer paths_;
};

}  // namespace

void ResolveByTemplate(Resolution& resolution, const Sources& sources) {
  if (resolution.AllPlaced() || sources.layers == nullptr) return;
  ResolveBySiblings(resolution, *sources.layers);
  if (sources.config != nullptr) {
    ConfigResolver(resolution, *sources.layers, *sources.config).Run();
  }
}

}  // namespace layerscope::replay

#include "src/replay/resolve.h"

#include <string>
#include <utility>

#include "src/attribution/module_graft.h"
#include "src/replay/annotation_resolver.h"
#include "src/replay/capture_resolver.h"
#include "src/replay/eager_resolver.h"
#include "src/replay/graph_alignments.h"
#include "src/replay/node_resolver.h"
#include "src/replay/template_resolver.h"

namespace layerscope::replay {

std::vector<WithheldSource> ResolveReplays(trace::Trace& trace,
                                           attribution::Attribution& attribution,
                                           const Sources& sources) {
  const GraphLaunches graphs = FindGraphLaunches(trace, attribution);
  if (graphs.launches.empty()) return {};
  attribution::ModuleGraft graft(trace, attribution);
  Resolution resolution{trace, attribution, graft, graphs, {}};
  resolution.outcomes.resize(graphs.launches.size());
  for (size_t i = 0; i < graphs.launches.size(); ++i) {
    if (!graphs.launches[i].burst) continue;
    LaunchOutcome& outcome = resolution.outcomes[i];
    outcome.reason = "its kernels carry one deferred time stamp (a burst)";
    if (sources.captures.empty() && sources.eager.empty()) continue;
    const std::string why = outcome.reason;
    Withhold(outcome,
             sources.captures.empty() ? attribution::Evidence::kEagerAlignment
                                      : attribution::Evidence::kCaptureAlignment,
             {}, why);
  }
  NoteCapturedNodes(resolution);
  ResolveByAnnotations(resolution, sources);
  ResolveByCaptures(resolution, sources);
  ResolveByEager(resolution, sources);
  ResolveByTemplate(resolution, sources);
  graft.Finish();
  attribution.alignments = SumByGraph(resolution);
  for (table::HealthEntry& warning : GraphWarnings(attribution.alignments, resolution)) {
    attribution.warnings.push_back(std::move(warning));
  }
  return WithheldSources(resolution);
}

}  // namespace layerscope::replay

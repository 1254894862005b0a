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
  // In a database the nodes tell. What they do not tell of stays open (formats/nsys_schema.md): no
  // likeness to eager steps or their layers stands in for them, unless a config asks for templates.
  const bool nodes_tell = trace.format == trace::TraceFormat::kNsys;
  if (!nodes_tell) ResolveByEager(resolution, sources);
  if (!nodes_tell || sources.config != nullptr) ResolveByTemplate(resolution, sources);
  graft.Finish();
  GraphSums sums = SumByGraph(resolution);
  attribution.alignments = std::move(sums.graphs);
  attribution.aligned_launches = std::move(sums.launches);
  for (table::HealthEntry& warning : GraphWarnings(attribution.alignments, resolution)) {
    attribution.warnings.push_back(std::move(warning));
  }
  return WithheldSources(resolution);
}

}  // namespace layerscope::replay

#include "src/replay/node_resolver.h"

#include <fmt/format.h>

#include "src/base/format_number.h"

namespace layerscope::replay {
namespace {

using attribution::Evidence;
using attribution::Reason;

/// What the nodes of one launch say. Kernels, unless said otherwise.
struct NodeCounts {
  bool any_in_module = false;  ///< an activity, of whatever kind
  int64_t kernels = 0;
  int64_t in_modules = 0;
  int64_t outside = 0;       ///< captured outside every module
  int64_t whole_graphs = 0;  ///< graphs recorded without their kernels
};

NodeCounts CountNodes(const Resolution& resolution, const GraphLaunch& launch) {
  const attribution::Attribution& attribution = resolution.attribution;
  NodeCounts counts;
  for (const uint32_t row : launch.rows) {
    const trace::ActivityKind kind = resolution.trace.activities.kind[row];
    const bool in_module = attribution.module_evidence[row] == Evidence::kGraphNode;
    counts.any_in_module |= in_module;
    if (kind == trace::ActivityKind::kGraph) ++counts.whole_graphs;
    if (kind != trace::ActivityKind::kKernel) continue;
    ++counts.kernels;
    if (in_module) ++counts.in_modules;
    if (attribution.module_reason[row] == Reason::kOutsideScopes) ++counts.outside;
  }
  return counts;
}

std::string ReasonOf(const NodeCounts& counts) {
  if (counts.whole_graphs > 0) {
    return "recorded as a whole, --cuda-graph-trace=node records its kernels";
  }
  if (counts.outside == 0) return {};
  return fmt::format("{} of a launch {} captured outside every module",
                     base::FormatCounted(counts.outside, "kernel"),
                     counts.outside == 1 ? "was" : "were");
}

}  // namespace

void NoteCapturedNodes(Resolution& resolution) {
  if (!attribution::KnowsGraphNodes(resolution.trace)) return;
  for (size_t i = 0; i < resolution.graphs.launches.size(); ++i) {
    const NodeCounts counts = CountNodes(resolution, resolution.graphs.launches[i]);
    LaunchOutcome& outcome = resolution.outcomes[i];
    outcome.reason = ReasonOf(counts);
    if (!counts.any_in_module) continue;
    outcome.evidence = Evidence::kGraphNode;
    outcome.matched = counts.in_modules;
    outcome.mismatched = counts.kernels - counts.in_modules;
    const auto known = static_cast<double>(counts.in_modules + counts.outside);
    outcome.confidence = counts.kernels == 0 ? 1 : known / static_cast<double>(counts.kernels);
  }
}

}  // namespace layerscope::replay

#include "src/replay/annotation_resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "src/replay/annotation_fit.h"
#include "src/replay/path_placer.h"

namespace layerscope::replay {
namespace {

class AnnotationResolver {
 public:
  AnnotationResolver(Resolution& resolution, const Sources& sources)
      : resolution_(resolution),
        annotations_(*sources.annotations),
        path_(sources.annotations_path),
        paths_(resolution.graft) {}

  void Run() {
    std::vector<Indices> of_sequence(resolution_.graphs.n_sequences);
    for (uint32_t i = 0; i < resolution_.graphs.launches.size(); ++i) {
      if (resolution_.outcomes[i].placed()) continue;
      of_sequence[resolution_.graphs.launches[i].sequence].push_back(i);
    }
    Indices known;
    for (const Indices& launches : of_sequence) {
      if (launches.empty()) continue;
      if (KnowsANode(launches)) {
        known.insert(known.end(), launches.begin(), launches.end());
      } else {
        const AnnotationFit fit = Fit(launches);
        for (const uint32_t i : launches) Withhold(i, fit);
      }
    }
    if (known.empty()) return;
    std::sort(known.begin(), known.end());
    const AnnotationFit fit = Fit(known);
    for (const uint32_t i : known) fit.fits ? Place(i, fit) : Withhold(i, fit);
  }

 private:
  using Indices = std::vector<uint32_t>;

  bool KnowsANode(const Indices& indices) const {
    const trace::Activities& rows = resolution_.trace.activities;
    return std::any_of(indices.begin(), indices.end(), [&](uint32_t i) {
      const std::vector<uint32_t>& of_launch = resolution_.graphs.launches[i].rows;
      return std::any_of(of_launch.begin(), of_launch.end(), [&](uint32_t row) {
        const int64_t id = rows.GraphNodeOf(row);
        return id != trace::kNoGraphNode && annotations_.Find(id) != nullptr;
      });
    });
  }

  AnnotationFit Fit(const Indices& indices) const {
    std::vector<const GraphLaunch*> launches;
    for (const uint32_t i : indices) launches.push_back(&resolution_.graphs.launches[i]);
    return FitAnnotations(resolution_.trace, annotations_, launches);
  }

  void Withhold(uint32_t index, const AnnotationFit& fit) {
    replay::Withhold(resolution_.outcomes[index], attribution::Evidence::kGraphNode, path_,
                     fit.reason);
  }

  void Place(uint32_t index, const AnnotationFit& fit) {
    const trace::Activities& rows = resolution_.trace.activities;
    const GraphLaunch& launch = resolution_.graphs.launches[index];
    LaunchOutcome& outcome = resolution_.outcomes[index];
    if (launch.rows.empty()) return;
    paths_.BeginLaunch(launch.call, resolution_.attribution.scope[launch.rows.front()]);
    for (const uint32_t row : launch.rows) {
      const int64_t id = rows.GraphNodeOf(row);
      const model::GraphAnnotations::Node* const node =
          id == trace::kNoGraphNode ? nullptr : annotations_.Find(id);
      const trace::ScopeId call = node != nullptr ? paths_.CallFor(node->path) : trace::ScopeId();
      if (call.valid()) {
        resolution_.graft.Place(row, call, trace::OpId(), attribution::Evidence::kGraphNode);
      }
      if (rows.kind[row] != trace::ActivityKind::kKernel) continue;
      (call.valid() ? outcome.matched : outcome.mismatched) += 1;
    }
    outcome.evidence = attribution::Evidence::kGraphNode;
    outcome.source = path_;
    outcome.withheld = false;
    outcome.reason.clear();
    outcome.refusals.clear();
    outcome.confidence = static_cast<double>(fit.found) / static_cast<double>(fit.kernels);
  }

  Resolution& resolution_;
  const model::GraphAnnotations& annotations_;
  const std::string& path_;
  PathPlacer paths_;
};

}  // namespace

void ResolveByAnnotations(Resolution& resolution, const Sources& sources) {
  if (sources.annotations == nullptr) return;
  AnnotationResolver(resolution, sources).Run();
}

}  // namespace layerscope::replay

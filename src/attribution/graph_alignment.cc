#include "src/attribution/graph_alignment.h"

#include <utility>

namespace layerscope::attribution {

std::vector<GraphAlignment> SumLaunches(std::vector<GraphAlignment> graphs,
                                        const std::vector<AlignedLaunch>& launches,
                                        const std::function<bool(const AlignedLaunch&)>& chosen) {
  for (GraphAlignment& graph : graphs) {
    graph.batch.reset();
    graph.launches = graph.matched = graph.mismatched = graph.missing = 0;
    graph.confidence = 0;
  }
  for (const AlignedLaunch& launch : launches) {
    if (!chosen(launch)) continue;
    GraphAlignment& graph = graphs[launch.graph];
    ++graph.launches;
    graph.matched += launch.matched;
    graph.mismatched += launch.mismatched;
    graph.missing += launch.missing;
    graph.confidence += launch.confidence;
    if (launch.batch && (!graph.batch || *graph.batch < *launch.batch)) graph.batch = launch.batch;
  }
  std::erase_if(graphs, [](const GraphAlignment& graph) { return graph.launches == 0; });
  for (GraphAlignment& graph : graphs) graph.confidence /= static_cast<double>(graph.launches);
  return graphs;
}

}  // namespace layerscope::attribution

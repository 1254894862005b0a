#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "src/attribution/evidence.h"
#include "src/replay/resolution.h"
#include "src/trace/ids.h"

namespace layerscope::replay {

/// The process of the thread that launches a graph.
trace::ProcessId ProcessOf(const Resolution& resolution, uint32_t launch);

/// Says which launches are of one graph, once their outcomes are known. Node ids (of one process)
/// decide where kernels carry them: other graphs may run the same kernels, as those of several
/// batch sizes do. Without ids launches of one recording, else those of one process and sequence,
/// are one graph.
class GraphIdentity {
 public:
  /// Evidence, whether the order of its kernels is unknown (a burst), what placed it, the graph or
  /// process, and the sequence where there is nothing better.
  using Key = std::tuple<attribution::Evidence, bool, int64_t, bool, uint32_t, int64_t>;

  explicit GraphIdentity(const Resolution& resolution);

  Key Of(uint32_t launch) const;

 private:
  static constexpr uint32_t kNone = 0xffffffff;

  void FindNodes();
  void JoinForwards();
  uint32_t Root(uint32_t graph);
  void Join(uint32_t a, uint32_t b);

  const Resolution& resolution_;
  std::vector<uint32_t> graph_of_launch_;  ///< kNone: its activities carry no node ids
  std::vector<uint32_t> parent_;           ///< by graph: joined with that one; itself at a root
};

}  // namespace layerscope::replay

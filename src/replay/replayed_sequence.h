#pragma once

#include <cstdint>
#include <vector>

#include "src/replay/graph_launches.h"
#include "src/replay/sequence_alignment.h"
#include "src/trace/trace.h"

namespace layerscope::replay {

/// The activities of a graph launch as the alignment reads them, lane by lane.
struct ReplayedSequence {
  std::vector<Element> elements;
  std::vector<trace::StringId> names;
  std::vector<uint32_t> sorted;  ///< symbols of the kernels
  int64_t n_kernels = 0;
  bool one_lane = true;
};

/// One activity, numbered by its name.
Element ReplayedElement(const trace::Trace& trace, uint32_t row, uint32_t lane);

ReplayedSequence ReadReplayed(const trace::Trace& trace, const GraphLaunch& launch);

}  // namespace layerscope::replay

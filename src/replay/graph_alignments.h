#pragma once

#include <vector>

#include "src/attribution/graph_alignment.h"
#include "src/replay/resolution.h"
#include "src/replay/resolve.h"
#include "src/table/result.h"

namespace layerscope::replay {

/// Every graph launch, and the graphs that they are of, in order of first launch. The launches of
/// one graph node, or without node ids those of one process that one recording places or that are
/// of equal sequence, are one graph; the pieces of a forward, all placed by one recording, too.
struct GraphSums {
  std::vector<attribution::GraphAlignment> graphs;
  std::vector<attribution::AlignedLaunch> launches;  ///< by CallId
};
GraphSums SumByGraph(const Resolution& resolution);

/// The kinds of sources that were given and did not fit, strongest first.
std::vector<WithheldSource> WithheldSources(const Resolution& resolution);

/// What a reader of the result must know: graphs that were resolved, captures that were withheld,
/// of another batch size, bursts, kernels that are missing.
std::vector<table::HealthEntry> GraphWarnings(
    const std::vector<attribution::GraphAlignment>& alignments, const Resolution& resolution);

}  // namespace layerscope::replay

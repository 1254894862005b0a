#pragma once

#include <vector>

#include "src/attribution/graph_alignment.h"
#include "src/replay/resolution.h"
#include "src/replay/resolve.h"
#include "src/table/result.h"

namespace layerscope::replay {

/// Sums the outcomes of all launches by graph: those placed by one recording, else those of equal
/// sequence; in order of first launch.
std::vector<attribution::GraphAlignment> SumByGraph(const Resolution& resolution);

/// The kinds of sources that were given and did not fit, strongest first.
std::vector<WithheldSource> WithheldSources(const Resolution& resolution);

/// What a reader of the result must know: graphs that were resolved, captures that were withheld,
/// of another batch size, bursts, kernels that are missing.
std::vector<table::HealthEntry> GraphWarnings(
    const std::vector<attribution::GraphAlignment>& alignments, const Resolution& resolution);

}  // namespace layerscope::replay

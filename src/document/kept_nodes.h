#pragma once

#include <cstdint>
#include <vector>

#include "src/analysis/rank_view.h"

namespace layerscope::document {

/// By row of GraphNodes: 1 where a selected activity is a replay of the node, or of a clone of it.
/// What was replayed is known from where its node was captured: from the clone that ran down to the
/// node that a thread made.
std::vector<uint8_t> NodesOfRows(const analysis::RankView& view);

}  // namespace layerscope::document

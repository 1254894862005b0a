#pragma once

#include "src/analysis/rank_view.h"
#include "src/analysis/timeline_lanes.h"
#include "src/analysis/timeline_slices.h"
#include "src/table/table.h"

namespace layerscope::analysis {

/// A timeline of one rank, drawn.
struct Timeline {
  TimelineRange range;
  TimelineLanes lanes;
  TimelineSlices drawn;
};

/// One row a lane; people see a strip of how busy it is over time.
table::Table LaneTable(const RankView& view, const Timeline& timeline);

/// One row a slice: what machines draw. `structure` may be null.
table::Table SliceTable(const RankView& view, const layers::LayerStructure* structure,
                        const Timeline& timeline);

}  // namespace layerscope::analysis

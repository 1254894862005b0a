#pragma once

#include <optional>
#include <string>

#include "src/analysis/analysis.h"
#include "src/analysis/rank_view.h"
#include "src/table/result.h"
#include "src/table/table.h"

namespace layerscope::analysis {

/// The `alignment` of CLI.md: one row a graph, what was laid over it and how well. Of a selection
/// the launches that ran a selected activity; no row without graph launches.
table::Table AlignmentForMachines(const RankView& view);

/// The same as people read it, with the reasons below. Absent when no selected activity lies under
/// a graph launch.
std::optional<table::Block> GraphsBlock(const RankView& view, const Presentation& presentation);

/// "graph replays are 97.2 % of GPU time: capture_alignment 96.9 %, unresolved 0.3 %"; empty when
/// nothing is selected of them, or when no replay is resolved.
std::string ReplayEvidenceText(const RankView& view);
/// The files that gave replayed kernels their modules, "a.json (found beside the trace), b.json";
/// empty when none did.
std::string ReplaySourcesText(const RankView& view);

}  // namespace layerscope::analysis

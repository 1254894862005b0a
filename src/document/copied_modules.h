#pragma once

#include "src/analysis/rank_view.h"
#include "src/table/result.h"

namespace layerscope::document {

/// Adds to the result of a copy what a reader of the copy alone would not know, so that nothing is
/// lost silently: modules that came from files beside the trace (`copy_without_recordings`), whole
/// graphs, which the copy shows and no verb counts (`copy_whole_graphs`); and for people that
/// replayed kernels of a database keep their modules.
void NoteCopiedModules(const analysis::RankView& view, table::RankResult& result);

}  // namespace layerscope::document

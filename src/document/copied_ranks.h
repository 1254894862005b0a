#pragma once

#include <string>

#include "src/analysis/rank_view.h"

namespace layerscope::document {

/// The members beside traceEvents, without commas around them, that tell a copy the ranks of its
/// processes, which a reader would else number anew among those that are left; empty where the file
/// tells them itself. Of a database the rank of the only process of which activities are selected,
/// as the PyTorch profiler writes it (`distributedInfo`). Of several processes that of each, by the
/// pid that the copy writes: `"layerscope": {"processes": [{"pid": 7, "rank": 1}]}`.
std::string RankMembers(const analysis::RankView& view);

}  // namespace layerscope::document

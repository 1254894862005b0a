#pragma once

#include <cstdint>

#include "src/analysis/rank_view.h"

namespace layerscope::analysis {

/// Whether an activity communicates: its name's category is `communication`. What --no-comm leaves
/// out.
bool IsCommunication(const RankView& view, uint32_t row);

}  // namespace layerscope::analysis

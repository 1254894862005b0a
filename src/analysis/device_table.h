#pragma once

#include <vector>

#include "src/analysis/device_rows.h"
#include "src/analysis/rank_view.h"
#include "src/table/result.h"

namespace layerscope::analysis {

/// For people: each device as a whole and its streams, whose process is named where the file has
/// several.
table::Block DevicesBlock(const RankView& view, const std::vector<DeviceRow>& devices);

}  // namespace layerscope::analysis

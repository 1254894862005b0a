#pragma once

#include <vector>

#include "src/attribution/attribution.h"
#include "src/layers/layer_structure.h"
#include "src/layers/pass_placement.h"
#include "src/layers/target_rows.h"
#include "src/trace/trace.h"

namespace layerscope::layers {

/// Turns placed passes into passes, layers and the columns of every row; types, steady pass and
/// module agreement come later. Copies and sets, and kernels of a pass's side streams, go to the
/// interval in which they start; kernels of other streams that are no pass's own are foreign there.
void FillColumns(const trace::Trace& trace, const attribution::Attribution& attribution,
                 const TargetRows& target, const std::vector<PlacedPass>& passes,
                 LayerStructure& out);

}  // namespace layerscope::layers

#pragma once

#include <optional>
#include <vector>

#include "src/layers/layer_structure.h"
#include "src/layers/pass_placement.h"
#include "src/layers/target_rows.h"
#include "src/table/result.h"
#include "src/trace/trace.h"

namespace layerscope::layers {

/// `passes_without_layers`: how many of the passes that should show layers do not, and each reason
/// with its number. `placed` is as `out.passes`. Absent: all do.
std::optional<table::HealthEntry> PassesWithoutLayers(const trace::Trace& trace,
                                                      const TargetRows& target,
                                                      const std::vector<PlacedPass>& placed,
                                                      const LayerStructure& out);

}  // namespace layerscope::layers

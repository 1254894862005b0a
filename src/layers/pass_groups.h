#pragma once

#include <vector>

#include "src/attribution/attribution.h"
#include "src/layers/pass_group.h"
#include "src/layers/target_rows.h"
#include "src/trace/trace.h"

namespace layerscope::layers {

/// Parts the kernels of the target into forwards (formats/profiles.md, "Rules";
/// formats/layer_finding.md, rule 1): by step where there are steps, and those of several forwards
/// further; kernels without a launch before the first step are the rest of passes from before the
/// window. Two micro-batches on two streams are two forwards. In order of their first kernel.
std::vector<PassGroup> BuildPassGroups(const trace::Trace& trace,
                                       const attribution::Attribution& attribution,
                                       const TargetRows& target, NameTraits& traits);

}  // namespace layerscope::layers

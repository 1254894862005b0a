#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/layers/halves.h"
#include "src/layers/outline.h"
#include "src/layers/readings.h"
#include "src/model/model_config.h"

namespace layerscope::layers {

/// What the config's layer kinds say of a cut (formats/profiles.md, "Layer types"): whether layers
/// mix by attention or by linear attention, hold an FFN alone, have experts or are dense.
struct PlanVerdict {
  size_t checked = 0;  ///< layers of which kernels and config both say something
  size_t differing = 0;
  bool telling = false;  ///< the config has layers of several kinds, so that agreement means much
  std::string first;     ///< what differs first
  bool agrees() const { return checked > 0 && differing == 0; }
};

/// Nothing is checked without a plan, for a pass whose first layer is not known, and for more
/// layers than planned.
PlanVerdict CheckPlan(const Outline& outline, const Reading& reading,
                      std::span<const model::PlannedLayer> plan);

/// The config's layers all have experts and every second of the halves has: two halves are one
/// layer (LongCat-Flash).
bool ExplainsDouble(const std::vector<Half>& halves, const Reading& reading,
                    std::span<const model::PlannedLayer> plan);

}  // namespace layerscope::layers

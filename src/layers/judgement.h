#pragma once

#include <string>
#include <vector>

#include "src/layers/halves.h"
#include "src/layers/outline.h"
#include "src/layers/readings.h"

namespace layerscope::layers {

/// How far a reading can be trusted, and what speaks against it.
struct Judgement {
  double confidence = 0;
  std::string why;
};

/// Confidence of a reading (formats/layer_finding.md, rule 8): it starts high and every missing or
/// contradicting piece of evidence caps it. `count_known`: --num-layers or a config gave the number
/// of layers and the reading has it. That number alone does not make two runs of attention and FFN
/// one layer, nor one run two: of `hints`, the blocks of a layer or the plan must say so too.
Judgement Judge(const Outline& outline, const std::vector<Half>& halves, const Reading& reading,
                const SegmentHints& hints, bool count_known);

}  // namespace layerscope::layers

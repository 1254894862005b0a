#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/layers/segmentation.h"
#include "src/trace/trace.h"

namespace layerscope::layers {

/// What the ends of a kernel sequence may be. Else they begin and end with a whole forward.
struct SequenceEnds {
  bool first_may_be_partial = false;
  bool last_may_be_partial = false;
};

/// Where, in the kernels of one stream, forwards begin: positions, the first of them 0
/// (formats/layer_finding.md, rule 1). Another forward begins between two mixers with an embedding
/// or a sampler between them, or where one graph that holds at least two mixers follows another; it
/// begins at a change of graph launch there, else after the largest idle gap. Separators are
/// believed only when the forwards between them hold equally many mixers (or, after a whole one,
/// less than half: a draft model).
std::vector<uint32_t> FindForwards(const trace::Activities& activities,
                                   const attribution::Attribution& attribution,
                                   std::span<const Token> tokens, SequenceEnds ends);

}  // namespace layerscope::layers

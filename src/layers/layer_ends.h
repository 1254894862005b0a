#pragma once

#include <cstdint>
#include <vector>

#include "src/layers/outline.h"

namespace layerscope::layers {

/// Where the outer layers of a cut end and begin (formats/layer_finding.md, rules 6 and 7).
struct OuterEnds {
  uint32_t end = 0;                ///< behind the last layer
  bool cut_last = false;           ///< the window ends inside the last layer
  bool cut_first = false;          ///< what stands before `begin` is the rest of a layer
  bool drop_first = false;         ///< what was taken for layer 0 is such a rest
  bool odd_last = false;           ///< the last layer does not follow its siblings
  bool tail_is_layer = false;      ///< from `end` on stands the begin of one more, cut layer
  bool tail_may_be_layer = false;  ///< or the final norm: nothing behind it tells
};

/// `begin` as found, over tokens [from, limit); not empty.
OuterEnds FindOuterEnds(const Outline& outline, const std::vector<uint32_t>& begin, uint32_t from,
                        uint32_t limit, const SegmentHints& hints);

}  // namespace layerscope::layers

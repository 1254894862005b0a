#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "src/layers/segmentation.h"

namespace layerscope::layers {

/// Why anchors may not go with the layers, and what to try: the hint of every such refusal.
inline constexpr std::string_view kResidueCauses =
    "likely causes: a draft model's or MTP layers in the pass, micro-batches, a window that cuts "
    "the pass, an anchor that only some layers have; try another --anchor-kernel, --num-layers, "
    "--blocks-per-layer or --anchor-offset";

/// How the anchors stand in a reading's layers.
struct AnchorRhythm {
  size_t per_layer = 0;
  size_t irregular = 0;  ///< whole layers with another number
  size_t odd_layer = 0;  ///< the first of them
  size_t odd_count = 0;  ///< how many it has
  size_t without = 0;    ///< whole layers with none
  size_t outside = 0;    ///< in head and tail
  bool opens = false;    ///< the first anchor of each layer stands at its begin
};

/// True when the hints name a number of blocks a layer that the anchors do not have.
bool HasOtherBlocks(const AnchorRhythm& rhythm, const SegmentHints& hints);

/// Where a number of layers comes from: "found by repetition", "from the config".
std::string CountSource(const SegmentHints& hints);

/// How `n_anchors` anchors miss `layers` layers: in which layers they stand, or their residue over
/// layers × blocks + extra. `asked`: the blocks a layer are the user's word.
std::string MisfitText(size_t n_anchors, size_t layers, const AnchorRhythm& rhythm,
                       const SegmentHints& hints, bool asked);

/// The residue of `n` anchors that are to be `layers` × `k` + `extra`.
std::string ResidueText(size_t n, size_t layers, size_t k, size_t extra);

}  // namespace layerscope::layers

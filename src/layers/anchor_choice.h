#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/base/result.h"
#include "src/layers/find_layers.h"
#include "src/layers/pass_group.h"
#include "src/layers/pass_segmenter.h"
#include "src/trace/trace.h"

namespace layerscope::layers {

/// Which kernel names are anchors and whose (formats/profiles.md, "The profiles").
struct AnchorChoice {
  AnchorSource source;
  std::vector<uint8_t> is_anchor;  ///< by StringId index
  /// By StringId index: kernels that a profile puts right before its anchor and that belong to the
  /// interval before it: the profile's, and those of built-in ones whose anchor is here.
  std::vector<uint8_t> is_helper;
};

/// The user's anchor, else the profile's. kUsage: the user's is no pattern. kFailed: no kernel
/// matches it. `is_kernel` (by StringId index): names of kernels.
base::Result<AnchorChoice> ChooseAnchor(const trace::Trace& trace,
                                        const attribution::Attribution& attribution,
                                        const std::vector<uint8_t>& is_kernel,
                                        const LayerOptions& options);

/// The short names of the anchors among the groups' tokens, each once, by first appearance.
std::vector<std::string> AnchorKernels(const trace::Trace& trace,
                                       const std::vector<PassGroup>& groups);

}  // namespace layerscope::layers

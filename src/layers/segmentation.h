#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/layers/kernel_class.h"
#include "src/model/model_config.h"
#include "src/model/profile.h"

namespace layerscope::layers {

/// One kernel (or captured launch) of a pass, in order on the pass's main stream.
struct Token {
  uint32_t name = 0;  ///< equal numbers = equal names (StringId index)
  uint32_t row = 0;   ///< the caller's: activity row, or call row of a capture
  KernelTraits traits;
  bool anchor = false;       ///< its name matches the anchor pattern
  bool side_stream = false;  ///< reserved for kernels of other streams that are shown to the cut
  bool seam_before = false;  ///< a piece of a capture begins here: a mixer stood in between
};

/// What is known before looking.
struct SegmentHints {
  std::optional<int64_t> num_layers;
  std::string_view count_source;              ///< who says num_layers: "the config", "--num-layers"
  std::span<const model::PlannedLayer> plan;  ///< empty without a config
  std::optional<int64_t> blocks_per_layer;
  std::optional<int64_t> extra_anchors;  ///< a pass, beyond layers × blocks
  std::optional<int64_t> anchor_offset;
  bool anchor_is_boundary = false;  ///< insists
  bool of_user = false;             ///< the anchor is the user's, also where it need not fit
  bool may_be_cut_first = false;    ///< the pass may have begun before the window
  bool may_be_cut_last = false;
  std::span<const std::string> helpers_before;
};

/// A pass cut into layers. Token positions; layer i is [begin[i], begin[i + 1]), the last one ends
/// at `end`. Tokens before begin[0] are the head, or with `cut_first` the rest of a layer whose
/// beginning lies outside; tokens from `end` on are the tail.
struct Segmentation {
  std::vector<uint32_t> begin;
  uint32_t end = 0;
  std::vector<std::vector<uint32_t>>
      block_begin;  ///< by layer: where its blocks begin; may be empty
  bool cut_first = false;
  bool cut_last = false;  ///< the last entry of `begin` is a layer that the window cuts
  std::string kind;       ///< "boundary", "period", "repetition"
  std::optional<int64_t> anchors_per_layer;
  double confidence = 0;  ///< 0 to 1; under kConfident the cut is shown with a warning
  std::string why;        ///< what the confidence rests on, one sentence
  /// Not empty: no cut is given. `why_not` says what is missing or ambiguous, `how` what to give.
  std::string abstained_code, why_not, how;
  /// Not empty: the anchor that the user gave is refused (exit 1): residue, what exists.
  std::string rejected, rejected_hint;

  bool ok() const { return !begin.empty(); }
};

inline constexpr double kConfident = 0.7;
/// Under this a cut is withheld.
inline constexpr double kShown = 0.4;
/// No model known has a tenth of these; more is no count of layers or blocks.
inline constexpr int64_t kMaxLayers = 4096;
inline constexpr int64_t kMaxBlocksPerLayer = 16;

/// Finds the repetition itself (formats/layer_finding.md).
Segmentation SegmentByRepetition(std::span<const Token> tokens, const SegmentHints& hints);

/// Cuts at tokens marked `anchor`, a boundary or a period anchor (formats/profiles.md, "Two kinds
/// of anchor", "Verified means"). `given`: by the user, so a failed verification is a rejection;
/// else it is an empty Segmentation whose `why_not` says what failed.
Segmentation SegmentByAnchor(std::span<const Token> tokens, const SegmentHints& hints, bool given);

}  // namespace layerscope::layers

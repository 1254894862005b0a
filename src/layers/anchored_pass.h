#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/layers/ambiguity.h"
#include "src/layers/halves.h"
#include "src/layers/outline.h"
#include "src/layers/readings.h"
#include "src/layers/segmentation.h"

namespace layerscope::layers {

/// What a pass that an anchor has not verified is worth at most.
inline constexpr double kUnverified = 0.55;
/// Anchors outside the layers that a profile's anchor may have when the profile names no number.
inline constexpr size_t kUsualExtra = 1;

/// A pass and where its anchors stand, before it is cut.
struct AnchoredPass {
  /// `given`: the user's anchor, which must fit. The tokens and hints must outlive this.
  AnchoredPass(std::span<const Token> tokens, const SegmentHints& of, bool is_given);

  size_t Offset() const { return static_cast<size_t>(hints.anchor_offset.value_or(0)); }
  /// How many anchors stand in [from, to).
  size_t CountIn(uint32_t from, uint32_t to) const;
  Ambiguity Doubt(const Stretch& stretch) const;

  /// The anchor is not verified.
  Segmentation Fail(std::string why, std::string how) const;
  /// A refusal where the user gave the anchor, else only a failed verification.
  Segmentation Refuse(std::string why, std::string hint) const;

  Outline outline;
  const SegmentHints& hints;
  bool given;
  bool asked;                 ///< the user's: the pass may be one that a window cuts
  bool norm_anchors = false;  ///< all anchors are norms
  std::vector<uint32_t> anchors;
  /// Empty where no mixer or no norm is recognised.
  std::vector<Half> halves;
  std::vector<Stretch> stretches;
};

}  // namespace layerscope::layers

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/layers/halves.h"
#include "src/layers/outline.h"
#include "src/layers/readings.h"

namespace layerscope::layers {

/// Whether a sequence has two readings that explain it about equally.
struct Ambiguity {
  std::string why;      ///< not empty: abstain, for this reason
  bool blocks = false;  ///< the sequence can only be read as one block a layer
};

/// Without a known number of layers: dense and MoE layers in turn or two halves (LongCat); mixer
/// and FFN blocks in turn or whole layers (Nemotron-H); encoders with the norm at the end.
Ambiguity FindAmbiguity(const Outline& outline, const std::vector<Half>& halves,
                        const Stretch& stretch, const SegmentHints& hints);

/// Whether norms may close the blocks (BERT) that a reading opens at them. No cache and no sampler,
/// and LayerNorm or no sign of a decoder at all, leave both; kernel sequences are the same but for
/// the ends: a norm more than inside before layer 0 (the embedding's own), or none behind the last
/// layer, leave only norms that open.
inline constexpr std::string_view kNormDoubt =
    "no cache and no sampler: an encoder's norms may open its blocks or close them";
enum class NormDoubt : uint8_t { kNone, kSlight, kGrave };
NormDoubt MayBePostNorm(const Outline& outline, const std::vector<Half>& halves,
                        const Stretch& stretch, const SegmentHints& hints);

}  // namespace layerscope::layers

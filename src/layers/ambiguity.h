#pragma once

#include <string>
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
                        const Stretch& stretch);

/// No cache, no sampler, and LayerNorm or no sign of a decoder at all: an encoder whose norms may
/// close its blocks (BERT).
bool MayBePostNorm(const Outline& outline, const std::vector<Half>& halves);

}  // namespace layerscope::layers

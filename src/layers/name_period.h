#pragma once

#include <cstdint>
#include <span>

#include "src/layers/segmentation.h"

namespace layerscope::layers {

/// What equality of names alone says of a sequence's repetition, with no idea of what the kernels
/// are: the distance at which short runs of names most often come again.
struct NamePeriod {
  uint32_t length = 0;  ///< kernels; 0 when nothing repeats
  double share = 0;     ///< of the runs that come again: how many do so at this distance
};

/// O(n log n).
NamePeriod FindNamePeriod(std::span<const Token> tokens);

/// How a cut and that distance go together. kAgrees: the distance is that from a layer's begin to a
/// later layer's. kShorter: it lies inside the layers. kSilent: too little repeats to say.
enum class PeriodVerdict : uint8_t { kSilent, kAgrees, kShorter, kDiffers };

PeriodVerdict CheckPeriod(const NamePeriod& period, std::span<const uint32_t> begin, uint32_t end);

}  // namespace layerscope::layers

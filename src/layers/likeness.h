#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/layers/segmentation.h"

namespace layerscope::layers {

/// How much the layers of a cut are like each other, by kernel names.
struct Likeness {
  std::vector<uint32_t> signature;  ///< by layer: number of its kernel sequence, from 0
  size_t n_signatures = 0;
  double alike = 0;  ///< share of layers that have a layer like themselves
  double worst = 1;  ///< likeness of the layer that is least like any other, 0 to 1
  size_t worst_layer = 0;
};

/// Layer i is tokens [begin[i], begin[i + 1]), the last one ends at `end`. Kernels of side streams
/// are left out.
Likeness CompareLayers(std::span<const Token> tokens, std::span<const uint32_t> begin,
                       uint32_t end);

/// Shared names of two token ranges over the longer one's length, as multisets, 0 to 1.
double SharedNames(std::span<const Token> a, std::span<const Token> b);

/// Number of equal names from the end of both ranges backwards.
uint32_t CommonSuffix(std::span<const Token> a, std::span<const Token> b);

/// Number of equal names from the begin of both ranges.
uint32_t CommonPrefix(std::span<const Token> a, std::span<const Token> b);

}  // namespace layerscope::layers

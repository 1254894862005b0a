#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "src/layers/segmentation.h"

namespace layerscope::layers {

/// Where in `tokens` a layer stands that runs the kernels of `layer`, name for name and in order,
/// but for at most one in ten (its norm may be a plain one); the position of its first kernel, the
/// latest of equals. Sequences of absurd length are not compared.
std::optional<uint32_t> FindLayerLike(std::span<const Token> layer, std::span<const Token> tokens);

}  // namespace layerscope::layers

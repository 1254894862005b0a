#pragma once

#include <cstddef>
#include <span>

#include "src/layers/segmentation.h"

namespace layerscope::layers {

/// How many of the first kernels of `rest` are, name for name, the last ones of `whole`: the end of
/// a pass that began before the window, which places it exactly. Linear.
size_t OverlapWithEnd(std::span<const Token> rest, std::span<const Token> whole);

/// Is `part` name for name the beginning of `whole`?
bool IsBeginning(std::span<const Token> part, std::span<const Token> whole);

}  // namespace layerscope::layers

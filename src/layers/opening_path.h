#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "src/layers/outline.h"

namespace layerscope::layers {

inline constexpr size_t kNone = std::numeric_limits<size_t>::max();
/// Paths from a norm to its mixer are compared over this many kernels.
inline constexpr uint32_t kMaxPath = 256;

/// Names from a norm to its mixer, sorted, for comparing paths as multisets. All norms count as one
/// name: layer 0's is another kernel than the fused ones.
std::vector<uint32_t> PathNames(const Outline& o, uint32_t from, uint32_t to);

/// Names that only one of two sorted paths has.
size_t Difference(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b);

/// The norm before the first mixer whose path to it is most like `like` (rule 5), as an index of
/// Outline::norms; kNone when there is none. `projected`: that path holds a GEMM; without one a
/// norm is that of queries or keys. `apart`: embeddings or samplers stand in it.
size_t OpeningOfFirst(const Outline& o, uint32_t mixer, const std::vector<uint32_t>& like,
                      bool projected, bool apart);

/// Norms right before norm `last` with nothing between that parts them, `last` included.
size_t GroupSizeBackwards(const Outline& o, size_t last);

}  // namespace layerscope::layers

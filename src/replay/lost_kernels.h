#pragma once

#include <cstdint>

#include "src/replay/resolution.h"

namespace layerscope::replay {

/// Kernels that launches lack which no recording was laid over. Launches at the same place of steps
/// with the same batch and as many launches replay one graph: what the fullest of them has and
/// another does not, while all else is the same in the same order, the trace lost (seen on ROCm).
/// Launches of no step, and bursts, say nothing.
int64_t CountLostKernels(const Resolution& resolution);

}  // namespace layerscope::replay

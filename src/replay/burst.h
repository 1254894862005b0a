#pragma once

#include <cstdint>
#include <span>

#include "src/trace/trace.h"

namespace layerscope::replay {

/// Do the kernels of one graph launch carry one deferred time stamp (seen on ROCm: formats/
/// kineto.md, "Graph replay and capture")? One stream runs one kernel after the other, so on it the
/// starts of eight or more kernels must lie apart: a burst are those that start within 200 ns each
/// on average (the shortest real kernels follow each other after 700 ns and more), or whose
/// durations, the last one's apart, add up to four times the time between the first and the last
/// start (overlap by programmatic launch does not reach twice). `rows` by start.
bool IsBurst(const trace::Trace& trace, std::span<const uint32_t> rows);

}  // namespace layerscope::replay

#pragma once

#include <cstdint>
#include <optional>

#include "src/base/format_number.h"

namespace layerscope::analysis {

/// What a step costs on the host beyond the GPU's work (docs/overhead.md): how much longer its
/// annotation lasts than the GPU is busy with it. Also of sums over steps. Nanoseconds.
struct StepGap {
  int64_t host_wall_ns = 0;
  int64_t busy_ns = 0;

  /// Below 0 where the host runs ahead of the GPU.
  int64_t ns() const { return host_wall_ns - busy_ns; }
  /// Of the host's length; unknown where there is none.
  std::optional<int64_t> ppm() const {
    if (host_wall_ns <= 0) return std::nullopt;
    return base::PartsPerMillion(ns(), host_wall_ns);
  }
};

/// Where the host runs ahead of the GPU the gap says nothing: people do not see it, nor its share.
inline bool GapTellsPeople(int64_t gap_ns) {
  return gap_ns >= 0;
}

}  // namespace layerscope::analysis

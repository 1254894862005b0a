#pragma once

#include <cstdint>
#include <optional>

namespace layerscope::replay {

/// What a step says of the capture that its graphs come from.
struct WantedCapture {
  std::optional<int64_t> rank;
  std::optional<int64_t> batch;   ///< requests
  std::optional<int64_t> tokens;  ///< query tokens: engines capture for numbers of tokens
};

/// How far a capture is from what is wanted; 0 is the best. The step's batch comes first, then a
/// capture that says nothing, then larger sizes (engines pad to the next one), then smaller ones,
/// then those of other ranks.
int64_t CaptureDistance(const WantedCapture& wanted, std::optional<int64_t> rank,
                        std::optional<int64_t> batch);

/// Is a capture of `batch` made for the step itself, as far as known?
bool IsOfStep(const WantedCapture& wanted, std::optional<int64_t> batch);

}  // namespace layerscope::replay

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace layerscope::analysis {

/// A step as its window sees it: when its annotation began and when its last activity ended.
struct StepCompletion {
  int64_t start_ns = 0;
  std::optional<int64_t> last_ns{};  ///< absent: the step launched nothing
};

/// What a user waits for a step: [from, to).
struct StepWindow {
  int64_t from_ns = 0;
  int64_t to_ns = 0;
  int64_t wall_ns() const { return to_ns - from_ns; }
};

/// The windows of one process' steps, which come by start: each from the last completion of the
/// steps before it to its own; the first that completes anything, from its annotation's start.
/// Empty for a step that completes nothing after that. The windows are disjoint and rise in time.
std::vector<StepWindow> BuildStepWindows(std::span<const StepCompletion> steps);

}  // namespace layerscope::analysis

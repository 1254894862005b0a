#include "src/analysis/overhead_windows.h"

#include <algorithm>

namespace layerscope::analysis {

std::vector<StepWindow> BuildStepWindows(std::span<const StepCompletion> steps) {
  std::vector<StepWindow> windows;
  windows.reserve(steps.size());
  std::optional<int64_t> reached_ns;
  for (const StepCompletion& step : steps) {
    if (!step.last_ns) {
      const int64_t at_ns = reached_ns.value_or(step.start_ns);
      windows.push_back({at_ns, at_ns});
      continue;
    }
    const int64_t from_ns = reached_ns.value_or(step.start_ns);
    reached_ns = std::max(from_ns, *step.last_ns);
    windows.push_back({from_ns, *reached_ns});
  }
  return windows;
}

}  // namespace layerscope::analysis

#include "src/analysis/launch_mode.h"

#include <array>

namespace layerscope::analysis {

std::string_view ToString(LaunchMode mode) {
  constexpr std::array<std::string_view, 4> kNames = {"", "eager", "graph", "mixed"};
  return kNames[static_cast<size_t>(mode)];
}

LaunchMode LaunchModeOf(int64_t n_kernels, int64_t n_graph_kernels, int64_t n_whole_graphs) {
  const bool in_graphs = n_graph_kernels + n_whole_graphs > 0;
  const bool eager = n_kernels > n_graph_kernels;
  if (in_graphs) return eager ? LaunchMode::kMixed : LaunchMode::kGraph;
  return eager ? LaunchMode::kEager : LaunchMode::kNone;
}

}  // namespace layerscope::analysis

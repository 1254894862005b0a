#pragma once

#include <cstdint>
#include <string_view>

namespace layerscope::analysis {

/// How the kernels of a step were launched: each by a call of its own, by graph launches, or some
/// this way and some that way.
enum class LaunchMode : uint8_t { kNone, kEager, kGraph, kMixed };
/// "eager", "graph", "mixed"; empty for a step without kernels.
std::string_view ToString(LaunchMode mode);

/// `n_graph_kernels` are those of the `n_kernels` that a graph launched; graphs that were recorded
/// as a whole (nsys) are no kernels and come on top.
LaunchMode LaunchModeOf(int64_t n_kernels, int64_t n_graph_kernels, int64_t n_whole_graphs);

}  // namespace layerscope::analysis

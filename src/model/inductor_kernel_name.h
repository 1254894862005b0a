#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace layerscope::model {

/// What the name of a kernel that TorchInductor generated says:
/// `triton_{poi,red,per,tem,for,…}_fused_<ops>_<n>` on GPUs, `graph_<g>_cpp_fused_<ops>_<n>` on
/// CPUs (torch/_inductor/utils.py, get_fused_kernel_name). The operators are those of the traced
/// graph before decompositions, each once, sorted as bytes.
struct InductorKernelName {
  /// As the generated code names it: without `graph_<g>_`, signature or ".kd". A view of the name.
  std::string_view kernel;
  std::string_view kind;         ///< "poi", "red", "per", "tem", …; "cpp"
  std::optional<int64_t> graph;  ///< of `graph_<g>_`
  std::vector<std::string> ops;  ///< in the name's order; empty: the name holds none
  /// The name was cut short (by a profiler, or with a hash by Inductor on Windows): the list of
  /// operators is not complete, and its last one may be the beginning of another.
  bool truncated = false;
};

/// Nothing: no kernel that Inductor fused. Takes time linear in the name.
///
/// The list of operators has no separators of its own, so it is cut where it leaves the fewest
/// words that are no operator (inductor_op_names.h), then the fewest breaks of the order, then the
/// fewest operators, i.e. the longest ones. A run of unknown words stays one operator as it is.
std::optional<InductorKernelName> ParseInductorKernelName(std::string_view name);

/// The list alone: "_to_copy__unsafe_view_add" -> {"_to_copy", "_unsafe_view", "add"}.
std::vector<std::string> SplitFusedOps(std::string_view text);

}  // namespace layerscope::model

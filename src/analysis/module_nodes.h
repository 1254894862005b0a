#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/analysis/group_by.h"
#include "src/analysis/place.h"
#include "src/analysis/rank_view.h"

namespace layerscope::analysis {

/// One module with the selected activities' time, or a run of like siblings shown as one
/// (`repeat` > 1). Times are nanoseconds.
struct ModuleNode {
  static constexpr int kDeepestBusy = 1000;

  int64_t id = 0;
  int64_t parent = -1;  ///< id of another node; -1: a root
  int depth = 1;        ///< root = 1
  std::string path;
  bool has_path = false;  ///< `path` is the recorded one or a model tree's, not made of instances
  std::string class_name;
  std::string instance;  ///< "Qwen3DecoderLayer_7"; of a run RangeName of its members
  int64_t calls = 0;
  int64_t captured_calls = 0;  ///< more calls, that recorded a graph and ran nothing
  int64_t cpu_ns = 0;          ///< of both
  int64_t cpu_self_ns = 0;
  int64_t gpu_incl_ns = 0;
  int64_t gpu_excl_ns = 0;
  /// Absent in a tree of absurd depth (kDeepestBusy): the unions would cost its square.
  std::optional<int64_t> gpu_busy_ns;
  int64_t kernel_incl_ns = 0;
  int64_t kernel_excl_ns = 0;
  int64_t kernels_incl = 0;
  int64_t kernels_excl = 0;
  int64_t activities_incl = 0;  ///< kernels, copies, sets; CPU-only: ops
  int64_t activities_excl = 0;
  EvidenceSums evidence_ns{};  ///< splits gpu_excl_ns
  Place place;
  int64_t repeat = 1;
  int64_t min_incl_ns = 0;  ///< over the members of a run
  int64_t max_incl_ns = 0;
};

/// What no module explains.
struct Unattributed {
  int64_t gpu_ns = 0;
  int64_t kernels = 0;
  int64_t activities = 0;
  std::array<int64_t, attribution::kReasonCount> by_reason{};
};

/// The module tree of one rank, in depth-first order, siblings by first call; `parent` < own index.
struct ModuleNodes {
  std::vector<ModuleNode> nodes;
  Unattributed unattributed;
  int64_t total_ns = 0;
  int64_t total_kernels = 0;
  int64_t total_activities = 0;
};

/// Sums the selected activities over the module tree. Of processes that are selected whole every
/// module and call is there; with a selection inside of them, the modules that hold a selected
/// activity, and calls and CPU times count the calls that hold one. LS_CHECKs that attributed +
/// unattributed = total and that children sum to their parents.
ModuleNodes BuildModuleNodes(const RankView& view);

/// For each node the index of its last descendant + 1, from the depth-first order.
std::vector<size_t> SubtreeEnds(const std::vector<ModuleNode>& nodes);

}  // namespace layerscope::analysis

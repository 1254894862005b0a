#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "src/trace/ids.h"

namespace layerscope::trace {

/// All `start_ns` are nanoseconds relative to the trace's zero once Trace::Rebase has run; all
/// `dur_ns` are nanoseconds. Rows stand in file order, so a larger row index is "later in file".

/// External ids and correlations that are absent in the file. Correlations are positive.
inline constexpr int64_t kNoExternalId = std::numeric_limits<int64_t>::min();
inline constexpr int64_t kNoCorrelation = 0;
inline constexpr int64_t kNoGraphNode = -1;

enum class ActivityKind : uint8_t {
  kKernel,
  kMemcpy,
  kMemset,
  kGraph,  ///< a whole graph launch, recorded without its kernels (nsys, graph granularity)
  kCpu,    ///< an interval in which one op is innermost on its thread (CPU-only traces)
};

/// GPU activities: kernels, copies, sets, whole graphs. Also the CPU intervals of a CPU-only trace.
struct Activities {
  std::vector<int64_t> start_ns;
  std::vector<int64_t> dur_ns;
  std::vector<StringId> name;
  std::vector<ActivityKind> kind;
  std::vector<ProcessId>
      process;                   ///< the pid written on the event: often the GPU's, not the host's
  std::vector<StreamId> stream;  ///< a stream belongs to one device
  std::vector<int64_t> correlation;
  std::vector<int64_t> external_id;
  std::vector<ArgsId> args;
  /// `graph node id` of a replayed activity (CUPTI, recent drivers), kNoGraphNode where it has
  /// none or 0. Reaches to the last activity that has one, so it is empty where none does: read it
  /// through GraphNodeOf.
  std::vector<int64_t> graph_node;
  size_t size() const { return start_ns.size(); }
  int64_t GraphNodeOf(size_t row) const {
    return row < graph_node.size() ? graph_node[row] : kNoGraphNode;
  }
};

/// Host API calls (cuda_runtime, cuda_driver, hip_*); launches are those whose name says Launch.
struct Calls {
  std::vector<int64_t> start_ns;
  std::vector<int64_t> dur_ns;
  std::vector<StringId> name;
  std::vector<ThreadId> thread;
  std::vector<int64_t> correlation;
  std::vector<int64_t> external_id;
  /// The kernel that a launch call names (ROCm writes it, CUDA does not). Reaches to the last call
  /// that names one, so it is empty where none does: read it through KernelOf.
  std::vector<StringId> kernel;
  size_t size() const { return start_ns.size(); }
  /// Invalid: the call names no kernel.
  StringId KernelOf(size_t row) const { return row < kernel.size() ? kernel[row] : StringId(); }
};

/// Framework operators.
struct Ops {
  std::vector<int64_t> start_ns;
  std::vector<int64_t> dur_ns;
  std::vector<StringId> name;
  std::vector<ThreadId> thread;
  std::vector<int64_t> external_id;
  std::vector<ArgsId> args;
  size_t size() const { return start_ns.size(); }
};

/// Module scopes: `nn.Module: Class_k` frames (`name` is `Class_k`), and annotations that name a
/// module by its path, `Module:path` and `{'Module': 'path', …}` (`name` is the path).
struct Scopes {
  std::vector<int64_t> start_ns;
  std::vector<int64_t> dur_ns;
  std::vector<StringId> name;
  std::vector<ThreadId> thread;
  std::vector<uint8_t> is_path;  ///< 1: `name` is a path
  /// The path of a `Class_k`, where a range of the file gives it (attribution's JoinModuleRanges).
  /// Empty where none does: read it through PathOf.
  std::vector<StringId> path{};
  /// Invalid: the file does not say it.
  StringId PathOf(size_t row) const {
    if (is_path[row] != 0) return name[row];
    return row < path.size() ? path[row] : StringId();
  }
  size_t size() const { return start_ns.size(); }
};

/// user_annotation and gpu_user_annotation; in old files ProfilerStep#N operators too.
struct Annotations {
  std::vector<int64_t> start_ns;
  std::vector<int64_t> dur_ns;
  std::vector<StringId> name;
  std::vector<ThreadId> thread;  ///< for the GPU's view: pid and tid as written
  std::vector<uint8_t> is_gpu;
  std::vector<uint8_t> is_op;  ///< 1: an old file's ProfilerStep operator, counted among the ops
  /// 1: an NVTX range of the default domain, which may stand for a module where nothing names one.
  /// Reaches to the last such row, so it is empty for other formats: read it through IsPlainRange.
  std::vector<uint8_t> is_plain_range;
  bool IsPlainRange(size_t row) const {
    return row < is_plain_range.size() && is_plain_range[row] != 0;
  }
  size_t size() const { return start_ns.size(); }
};

/// Nodes of CUDA graphs as they were made (nsys, CUDA_GRAPH_NODE_EVENTS), in file order. A node id
/// is unique in its process only; one node may have several rows.
struct GraphNodes {
  std::vector<ProcessId> process;
  std::vector<int64_t> node;      ///< what Activities::graph_node names
  std::vector<int64_t> original;  ///< the node it is a clone of; kNoGraphNode: made by a capture
  std::vector<ThreadId> thread;   ///< that made it: of a captured node the capturing thread
  std::vector<int64_t> start_ns;  ///< when it was made
  size_t size() const { return node.size(); }
};

}  // namespace layerscope::trace

#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "src/analysis/group_by.h"
#include "src/document/map/forwards.h"
#include "src/document/map/rank.h"
#include "src/document/map/row_sums.h"

namespace layerscope::document {

/// Deeper modules count as the one around them at this depth, and ops nested deeper as the op
/// around them: no model comes near it, and a hostile trace must not nest the document.
inline constexpr int kDeepestModule = 64;
inline constexpr int kDeepestOp = 16;
/// A call that runs one op more often than this has its later ones counted with the last.
inline constexpr uint32_t kMostOccurrences = 64;

struct ExecutionSums : RowSums {
  int64_t activities = 0;
  analysis::EvidenceSums evidence_ns{};  ///< of gpu_ns
  void Add(const ExecutionSums& other);
};

/// A module, an op at one place of a module (the k-th `aten::mm` of a call, merged over all calls),
/// or the ops outside every module.
struct ExecutionNode {
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  enum class Kind : uint8_t { kModule, kOp, kOutside };

  uint32_t parent = kNone;
  Kind kind = Kind::kModule;
  int depth = 1;                 ///< among modules, or among ops
  attribution::ModuleId module;  ///< kModule
  trace::StringId op;            ///< kOp; invalid: a kernel without an op, then `kernel` says which
  trace::StringId kernel;
  uint32_t occurrence = 0;  ///< kOp: among the ops of that name in a call
  trace::ArgsId args;       ///< kOp: of its first call
  int64_t first_ns = std::numeric_limits<int64_t>::max();  ///< start of its first call
  int64_t calls = 0;
  int64_t captured_calls = 0;  ///< of a module, more calls that recorded a graph and ran nothing
  int64_t cpu_ns = 0;
  ExecutionSums own;
  ExecutionSums sums;  ///< with everything below
};

/// What a rank executed: modules, the ops in them, and every activity's place among both.
struct ExecutionTree {
  /// What the selection holds: all, or what lies around the selected activities.
  struct Totals {
    int64_t ops = 0;
    int64_t scopes = 0;          ///< calls of modules that were recorded
    int64_t replayed_calls = 0;  ///< calls of modules below graph launches
    int64_t modules = 0;         ///< that were called
  };

  static constexpr uint32_t kNone = ExecutionNode::kNone;
  std::vector<ExecutionNode> nodes;      ///< a parent stands before its children
  std::vector<uint32_t> node_of_row;     ///< by position in ExecutionRank::rows; kNone: no op
  std::vector<uint32_t> forward_of_row;  ///< the same; Forwards::kNone: unknown
  uint32_t before = kNone;               ///< the node of ops before the model's root
  uint32_t after = kNone;                ///< and of those after it
  Totals totals;
};

ExecutionTree BuildExecutionTree(const ExecutionRank& rank, const Forwards& forwards);

}  // namespace layerscope::document

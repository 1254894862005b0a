#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/document/map/folds.h"
#include "src/document/map/tree.h"

namespace layerscope::document {

/// A kernel under one node of the map: all of its activities of that name.
struct KernelUse {
  trace::StringId name;
  int64_t n = 0;
  int64_t gpu_ns = 0;
  uint32_t longest = 0;  ///< the activity that took most: its grid and launch stand for the others
};

/// GPU time of the forwards in which a node ran something.
struct PassFigures {
  int64_t n = 0;
  int64_t sum_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;
};

/// One node of the document: nodes of the execution tree that are shown as one.
struct MapNode {
  static constexpr uint32_t kNone = ExecutionNode::kNone;
  /// `slot`: which of the outermost fold's members it lies in.
  struct Member {
    uint32_t node = 0;
    uint32_t slot = 0;
  };

  uint32_t parent = kNone;
  std::vector<Member> members;
  uint32_t n_slots = 0;  ///< 0: in no fold
  uint32_t repeat = 1;   ///< > 1: a fold itself, of so many members where it has most
  uint32_t stretch = kNone;
  std::vector<uint32_t> modules;  ///< MapNodes
  std::vector<uint32_t> ops;      ///< MapNodes
  int64_t seq = 0;                ///< among modules and ops of its parent, by first start

  int64_t calls = 0;
  int64_t cpu_ns = 0;
  ExecutionSums sums;
  int64_t own_ns = 0;  ///< of a module: in its ops; of an op: not in the ops below it
  int64_t busy_ns = 0;
  PassFigures passes;
  std::vector<KernelUse> kernels;           ///< of its own, largest first
  std::optional<KernelUse> largest_kernel;  ///< of its own or below
};

/// The tree that the document shows.
struct ExecutionMap {
  std::vector<MapNode> nodes;           ///< a parent stands before its children
  std::vector<uint32_t> roots;          ///< modules
  int64_t roots_busy_ns = 0;            ///< of all roots together
  std::vector<uint32_t> before, after;  ///< ops
  /// By forward: everything that belongs to it, ops outside the modules included.
  std::vector<RowSums> passes;
  RowSums outside_passes;
};

ExecutionMap BuildExecutionMap(const ExecutionRank& rank, const ExecutionTree& tree,
                               const ModuleFolds& folds, size_t n_forwards, bool collapse);

}  // namespace layerscope::document

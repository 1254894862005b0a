#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/replay/node_kind.h"
#include "src/trace/trace.h"

namespace layerscope::replay {

/// A trace that was given beside the one that is looked at: a capture trace or an eager run of the
/// same model, read and attributed like any other. Both members outlive the resolution.
struct SideTrace {
  std::string path;              ///< as shown to people
  std::optional<int64_t> rank;   ///< distributedInfo, else the file's name, else unknown
  std::optional<int64_t> batch;  ///< what the file's name says (`bs_32_rank0`)
  const trace::Trace* trace = nullptr;
  const attribution::Attribution* attribution = nullptr;
};

/// One kernel or copy of a forward when it was recorded: a launch call inside a capture, or a
/// kernel that ran in an eager forward. Ids are those of the recording's trace.
struct RecordedNode {
  NodeKind kind = NodeKind::kKernel;
  uint32_t row = 0;        ///< call (capture) or activity (eager)
  trace::StringId kernel;  ///< invalid: a capture whose calls do not name their kernels (CUDA)
  trace::OpId op;          ///< innermost op around it; may be invalid
  trace::ScopeId scope;    ///< innermost module scope around it; may be invalid
  uint32_t chain = 0;      ///< Element::chain
};

/// What was captured between one begin and its end, in launch order. An eager forward is one piece.
struct RecordedPiece {
  std::vector<RecordedNode> nodes;
  bool names_kernels = false;  ///< every kernel node names its kernel
};

/// One forward as it was recorded: a full graph has one piece, a piecewise one many.
struct Recording {
  const SideTrace* source = nullptr;
  std::vector<RecordedPiece> pieces;
  std::optional<int64_t> batch;  ///< capture_<n>_<MODE>, the step's requests, or the file's name
  std::string mode;              ///< FULL, PIECEWISE, DECODE, a step's phase; may be empty
};

}  // namespace layerscope::replay

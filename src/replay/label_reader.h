#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/replay/recording.h"
#include "src/replay/work_family.h"
#include "src/trace/trace.h"

namespace layerscope::replay {

/// What a piece without kernel names (CUDA) says of its kernels: the ops that launched them.
struct RecordedLabels {
  /// Kernels that one call of an op launched, one after the other.
  struct Run {
    uint32_t begin = 0, end = 0;  ///< kernels of the piece, counted from 0
    WorkFamily family = WorkFamily::kUnknown;
    std::string kernel;  ///< the op is named like its kernel; empty: it is not
  };
  std::vector<Run> runs;
  std::vector<uint32_t> label;  ///< by kernel: equal where the same kernel is to be expected
  std::vector<uint32_t> node;   ///< by kernel: node of the piece
};

/// A label is: op, its shapes, the classes of the modules around it, which of the op's kernels it
/// is, and the ops before and after.
RecordedLabels ReadLabels(const SideTrace& source, const RecordedPiece& piece);

}  // namespace layerscope::replay

#pragma once

#include <cstdint>
#include <vector>

#include "src/replay/piece_fit.h"
#include "src/replay/recording.h"
#include "src/trace/trace.h"

namespace layerscope::replay {

/// Reads the pieces of one source for alignment with a trace: kernel names as the trace's own
/// symbols, so that names of both sides are equal when their symbols are.
class RecordedNames {
 public:
  RecordedNames(const trace::Trace& replayed, const SideTrace& source)
      : replayed_(replayed),
        source_(source),
        symbol_of_(source.trace->strings.size(), kUnmatched) {}

  RecordedSequence Read(const RecordedPiece& piece);

 private:
  Element ElementOf(const RecordedNode& node);

  const trace::Trace& replayed_;
  const SideTrace& source_;
  std::vector<uint32_t> symbol_of_;  // by StringId of the source; kUnmatched: not asked yet
};

}  // namespace layerscope::replay

#pragma once

#include <cstdint>
#include <vector>

#include "src/replay/recording.h"
#include "src/replay/sequence_alignment.h"
#include "src/trace/trace.h"

namespace layerscope::replay {

/// A piece as the alignment reads it.
struct RecordedSequence {
  std::vector<Element> elements;
  std::vector<uint32_t> places;  ///< equal: the same module call, and an op that is called the same
  std::vector<uint32_t> sorted;  ///< symbols of the kernels
  int64_t n_kernels = 0;
};

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

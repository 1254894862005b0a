#pragma once

#include <cstdint>
#include <vector>

#include "src/trace/trace.h"

namespace layerscope::attribution {

/// What a call recorded into a graph.
struct CapturedCall {
  enum class Kind : uint8_t { kKernel, kCopy, kSet };
  uint32_t call = 0;
  Kind kind = Kind::kKernel;
};

/// What was captured between one begin and its end.
struct CapturedPiece {
  trace::ThreadId thread;
  trace::AnnotationId annotation;   ///< the capture_<n>_<MODE> around its begin; may be invalid
  std::vector<CapturedCall> calls;  ///< by (start, file order); not empty
};

/// The captured graphs of a trace: launch calls, copies and sets between the end of a
/// *StreamBeginCapture and the start of the next *StreamEndCapture on one thread, by time
/// (formats/kineto.md, "Graph replay and capture"); launches of other threads do not belong, nor do
/// graph launches and host functions. A call that two layers of the API report (one correlation) is
/// one. `process` (when valid) chooses the process. By (thread, start).
std::vector<CapturedPiece> FindCapturedPieces(const trace::Trace& trace, trace::ProcessId process);

}  // namespace layerscope::attribution

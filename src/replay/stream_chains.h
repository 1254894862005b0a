#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "src/replay/recording.h"
#include "src/trace/trace.h"

namespace layerscope::replay {

/// Where and when a recorded node was launched.
struct NodeLaunch {
  trace::ThreadId thread;
  int64_t start_ns = 0;
  trace::StreamId stream;  ///< invalid: a capture, whose calls do not say it
};

/// Finds the chains of recorded nodes: launches of one stream with no event between. An event that
/// is recorded, or that a stream waits for, opens or closes a branch, so a replay may go on with
/// another lane there, and nowhere else.
///
/// In a capture, which names no streams, what is launched between two events counts as one chain.
/// That is not always so (a program may come back from a branch without an event), but then such a
/// chain fits no lane. So chains only choose between ways that fit anyhow, and only when all chains
/// of a piece can be held.
class StreamChains {
 public:
  explicit StreamChains(const trace::Trace& trace);

  /// Numbers the chains of a piece whose nodes were launched there, from 1. Without any event
  /// between them nothing is known and all stay 0: streams cannot branch off without one.
  void Number(std::span<const NodeLaunch> launches, RecordedPiece& piece) const;

 private:
  size_t EventsBefore(const NodeLaunch& launch) const;

  std::vector<std::pair<trace::ThreadId, int64_t>> events_;  // calls, by (thread, start)
};

}  // namespace layerscope::replay

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/attribution/attribution.h"
#include "src/trace/trace.h"

namespace layerscope::attribution {

/// The activities with a graph node, launch by launch: those of one call, or without a call those
/// of one correlation of one process. In order of first activity; inside a launch in file order.
class GraphReplays {
 public:
  /// `launch` is Attribution::launch.
  GraphReplays(const trace::Trace& trace, const std::vector<trace::CallId>& launch);

  size_t size() const { return begin_.size() - 1; }
  std::span<const uint32_t> rows(size_t replay) const {
    return std::span(rows_).subspan(begin_[replay], begin_[replay + 1] - begin_[replay]);
  }

 private:
  std::vector<uint32_t> rows_;
  std::vector<uint32_t> begin_{0};  // by replay, and one past the last
};

/// Gives each replay its own calls: the captured scopes that its activities stand in, and those
/// around them, become replayed calls of their modules (see ModuleTree), one a launch and captured
/// scope. The rows' `scope` is then that call. Of a nest deeper than kMaxModuleLevels the outer
/// scopes are left out.
void AddReplayedCalls(const GraphReplays& replays, Attribution& attribution);

/// Launches that hold another set of nodes than most launches of their graph: every replay has the
/// same, so the recording lost some. Launches that share a node are of one graph.
int64_t CountDifferingReplays(const trace::Trace& trace, const GraphReplays& replays);

}  // namespace layerscope::attribution

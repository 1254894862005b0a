#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/analysis/rank_view.h"

namespace layerscope::document {

/// One rank of the module map: a file, or one process of a file that holds the modules of several.
struct ExecutionRank {
  const analysis::RankView* view = nullptr;
  trace::ProcessId process;    ///< invalid: all processes of the file
  std::vector<uint32_t> rows;  ///< of the view's rows, in their order

  const trace::Trace& trace() const { return view->trace(); }
  const attribution::Attribution& attribution() const { return view->attribution(); }
  bool Holds(trace::ProcessId other) const { return !process.valid() || process == other; }
  bool HoldsThread(trace::ThreadId thread) const {
    return Holds(trace().threads[thread.index()].process);
  }
  /// When the host launched a row; of a CPU-only trace its own start. Absent: the launch is not in
  /// the file.
  std::optional<int64_t> LaunchTime(uint32_t row) const;
};

/// The ranks of all views, in their order. What belongs to no process with modules goes to the
/// first rank of its file.
std::vector<ExecutionRank> SplitRanks(const std::vector<analysis::RankView>& views);

}  // namespace layerscope::document

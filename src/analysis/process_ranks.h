#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/analysis/analysis.h"
#include "src/trace/ids.h"

namespace layerscope::analysis {

/// The host processes of one file, by pid, and the rank of each.
struct ProcessRanks {
  std::vector<trace::ProcessId> hosts;          ///< processes with a call, op or scope
  std::vector<std::optional<int64_t>> rank_of;  ///< by ProcessId; absent = unknown
  bool many() const { return hosts.size() > 1; }
};

/// A process's rank is the one that the file tells for it (nsys: MPI_RANKS), else the file's own.
/// Where there is neither and several processes: the TP-n in their labels, else they are numbered
/// in order of pid (CLI.md); but not beside processes whose rank is told. One process stays
/// unknown.
ProcessRanks RanksOfProcesses(const RankInput& input);

/// The digits after "TP-" in a label such as "[TP-1] 12".
std::optional<int64_t> RankInLabel(std::string_view label);

}  // namespace layerscope::analysis

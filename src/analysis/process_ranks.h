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

/// A file's own rank holds for all its processes. Where it has none and several processes: the TP-n
/// in their labels, else they are numbered in order of pid (CLI.md). One process stays unknown.
ProcessRanks RanksOfProcesses(const RankInput& input);

/// The digits after "TP-" in a label such as "[TP-1] 12".
std::optional<int64_t> RankInLabel(std::string_view label);

}  // namespace layerscope::analysis

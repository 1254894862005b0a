#include "src/document/map/rank.h"

#include <algorithm>

#include "src/analysis/compiled_regions.h"

namespace layerscope::document {
namespace {

/// Host processes that have modules, in order of pid; of a selection those that it has work of.
std::vector<trace::ProcessId> ProcessesWithModules(const analysis::RankView& view) {
  std::vector<uint8_t> has_rows(view.trace().processes.size(), view.selects_all() ? 1 : 0);
  for (const uint32_t row : view.rows()) {
    const trace::ProcessId host = view.attribution().host_process[row];
    if (host.valid()) has_rows[host.index()] = 1;
  }
  std::vector<uint8_t> has_modules(view.trace().processes.size(), 0);
  for (const attribution::Module& module : view.attribution().modules.modules) {
    if (module.process.valid()) has_modules[module.process.index()] = 1;
  }
  std::vector<trace::ProcessId> processes;
  for (const trace::ProcessId host : view.processes().hosts) {
    if (has_modules[host.index()] != 0 && has_rows[host.index()] != 0) processes.push_back(host);
  }
  return processes;
}

void SplitFile(const analysis::RankView& view, std::vector<ExecutionRank>& ranks) {
  const std::vector<trace::ProcessId> processes = ProcessesWithModules(view);
  if (processes.size() < 2) {
    // Modules of others are not this rank's, though the selection left nothing else of them.
    const bool is_one_of_several = !view.selects_all() && view.processes().many();
    const trace::ProcessId only =
        is_one_of_several && !processes.empty() ? processes.front() : trace::ProcessId();
    ranks.push_back({&view, only, view.rows()});
    return;
  }
  const size_t first = ranks.size();
  std::vector<size_t> rank_of(view.trace().processes.size(), first);
  for (const trace::ProcessId process : processes) {
    rank_of[process.index()] = ranks.size();
    ranks.push_back({&view, process, {}});
  }
  for (const uint32_t row : view.rows()) {
    const trace::ProcessId host = view.attribution().host_process[row];
    ranks[host.valid() ? rank_of[host.index()] : first].rows.push_back(row);
  }
}

}  // namespace

std::optional<int64_t> ExecutionRank::LaunchTime(uint32_t row) const {
  const analysis::HostStart start = analysis::HostStartOf(trace(), attribution(), row);
  if (!start.thread.valid()) return std::nullopt;
  return start.time_ns;
}

std::vector<ExecutionRank> SplitRanks(const std::vector<analysis::RankView>& views) {
  std::vector<ExecutionRank> ranks;
  for (const analysis::RankView& view : views) SplitFile(view, ranks);
  return ranks;
}

}  // namespace layerscope::document

#include "src/document/copied_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "src/document/written_pids.h"

namespace layerscope::document {
namespace {

/// The rank of the only process of which activities are selected.
std::optional<int64_t> OnlyRank(const analysis::RankView& view) {
  trace::ProcessId only;
  for (const uint32_t row : view.rows()) {
    const trace::ProcessId process = view.activities().process[row];
    if (only.valid() && process != only) return std::nullopt;
    only = process;
  }
  return only.valid() ? view.processes().rank_of[only.index()] : std::nullopt;
}

std::string RanksByPid(const analysis::RankView& view) {
  const std::vector<std::string> pids = WrittenPids(view.trace());
  std::string processes;
  for (const trace::ProcessId host : view.processes().hosts) {
    const std::optional<int64_t>& rank = view.processes().rank_of[host.index()];
    if (!rank) continue;
    processes += fmt::format("{}{{\"pid\": {}, \"rank\": {}}}", processes.empty() ? "" : ", ",
                             pids[host.index()], *rank);
  }
  if (processes.empty()) return {};
  return fmt::format("\"layerscope\": {{\"processes\": [{}]}}", processes);
}

}  // namespace

std::string RankMembers(const analysis::RankView& view) {
  const trace::Trace& trace = view.trace();
  const bool is_database = trace.format == trace::TraceFormat::kNsys;
  const bool told =
      std::any_of(trace.processes.begin(), trace.processes.end(),
                  [](const trace::Process& process) { return process.rank.has_value(); });
  // The members of a trace are copied with it, and all of its processes number themselves as
  // before.
  if (trace.metadata.rank || (!is_database && (told || view.selects_all()))) return {};
  std::string members;
  const std::optional<int64_t> only = is_database ? OnlyRank(view) : std::nullopt;
  if (only) members = fmt::format("\"distributedInfo\": {{\"rank\": {}}}", *only);
  const std::string by_pid = view.processes().many() ? RanksByPid(view) : std::string();
  if (!members.empty() && !by_pid.empty()) members += ",\n";
  return members + by_pid;
}

}  // namespace layerscope::document
